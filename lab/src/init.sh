#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# The first process of the machine: mounts, runs the jobs one after the other, switches off.
#
# The root is the host's, read-only, under a writable layer in memory; /result is the one folder of
# the host that can be written to. A job ends after `limit` seconds of the machine, which the kernel
# hands over from its command line.
/bin/busybox --install -s /bin

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in /modules/*; do
    insmod "$module"
done

options=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o "$options,ro,cache=loose" host /host
mount -t tmpfs -o mode=0755 over /over
mkdir /over/upper /over/work
mount -t overlay -o lowerdir=/host,upperdir=/over/upper,workdir=/over/work root /root
mkdir -p /root/result
mount -t 9p -o "$options" result /root/result || poweroff -f

for folder in dev proc sys; do
    mount --move /$folder /root/$folder
done
mount -t tmpfs run /root/run
mkdir -p /root/dev/shm /root/dev/pts /root/run/jobs
mount -t tmpfs shm /root/dev/shm
mount -t devpts pts /root/dev/pts
mount -t debugfs debug /root/sys/kernel/debug
mount -t tracefs tracing /root/sys/kernel/tracing
mount -t bpf bpf /root/sys/fs/bpf
mount -t cgroup2 cgroup /root/sys/fs/cgroup
ifconfig lo 127.0.0.1 up
cp /jobs/* /root/run/jobs
cp /bin/busybox /root/run/busybox

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
for job in /jobs/*; do
    name=${job#/jobs/}
    chroot /root /bin/sh -c "
        cd /result/$name
        /run/busybox timeout -s KILL $limit /run/jobs/$name > stdout 2> stderr
        echo \$? > status"
done
dmesg > /root/result/kernel.log
poweroff -f
