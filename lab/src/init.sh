#!/bin/busybox sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# The first process of the machine: mounts, runs the jobs one after the other, switches off.
#
# The root is the host's, read-only; where the kernel knows overlays, under a writable layer in
# memory, else with /tmp, /var/tmp and /run in memory. /run/result is the one folder of the host
# that can be written to; programs in its `bin` are found first. From the kernel's command line come
# `share`, the kind of shared folders, and `limit`, the seconds of the machine after which a job is
# ended.
/bin/busybox --install -s /bin

mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in /modules/*.ko; do
    [ -e "$module" ] && insmod "$module"
done

case $share in
9p) options=trans=virtio,version=9p2000.L,msize=512000 more=,cache=loose ;;
*) options=rw more= ;;
esac
mount -t "$share" -o "$options,ro$more" host /host

if grep -qw overlay /proc/filesystems; then
    mount -t tmpfs -o mode=0755 over /over
    mkdir /over/upper /over/work
    mount -t overlay -o lowerdir=/host,upperdir=/over/upper,workdir=/over/work new /new
else
    mount --bind /host /new
    mount -t tmpfs -o mode=1777 memory /new/tmp
    mount -t tmpfs -o mode=1777 memory /new/var/tmp
fi
mount -t tmpfs -o mode=0755 run /new/run
mkdir /new/run/jobs /new/run/result

for folder in dev proc sys; do
    mount --move /$folder /new/$folder
done
mkdir -p /new/dev/shm /new/dev/pts
mount -t tmpfs shm /new/dev/shm
mount -t devpts pts /new/dev/pts
mount -t debugfs debug /new/sys/kernel/debug
mount -t tracefs tracing /new/sys/kernel/tracing
mount -t bpf bpf /new/sys/fs/bpf
mount -t cgroup2 cgroup /new/sys/fs/cgroup
mount -t "$share" -o "$options" result /new/run/result || poweroff -f
ifconfig lo 127.0.0.1 up
cp /jobs/* /new/run/jobs
cp /bin/busybox /new/run/busybox

export PATH=/run/result/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/tmp PYTHONPATH=/run/result/bin PYTHONDONTWRITEBYTECODE=1
dmesg -c > /new/run/result/boot.log
for name in $(cat /order); do
    cat /new/proc/uptime > "/new/run/result/$name/began"
    chroot /new /bin/sh -c "
        cd /run/result/$name
        /run/busybox timeout -s KILL $limit /run/jobs/$name > stdout 2> stderr
        echo \$? > status"
    cat /new/proc/uptime > "/new/run/result/$name/ended"
    # Whatever the job left running: all but this first process.
    kill -KILL -1
    dmesg -c > "/new/run/result/$name/kernel.log"
done
poweroff -f
