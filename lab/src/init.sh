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
mount -t overlay -o lowerdir=/host,upperdir=/over/upper,workdir=/over/work new /new
mkdir -p /new/result
mount -t 9p -o "$options" result /new/result || poweroff -f

for folder in dev proc sys; do
    mount --move /$folder /new/$folder
done
mount -t tmpfs run /new/run
mkdir -p /new/dev/shm /new/dev/pts /new/run/jobs
mount -t tmpfs shm /new/dev/shm
mount -t devpts pts /new/dev/pts
mount -t debugfs debug /new/sys/kernel/debug
mount -t tracefs tracing /new/sys/kernel/tracing
mount -t bpf bpf /new/sys/fs/bpf
mount -t cgroup2 cgroup /new/sys/fs/cgroup
ifconfig lo 127.0.0.1 up
cp /jobs/* /new/run/jobs
cp /bin/busybox /new/run/busybox

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
for job in /jobs/*; do
    name=${job#/jobs/}
    chroot /new /bin/sh -c "
        cd /result/$name
        /run/busybox timeout -s KILL $limit /run/jobs/$name > stdout 2> stderr
        echo \$? > status"
done
dmesg > /new/result/kernel.log
poweroff -f
