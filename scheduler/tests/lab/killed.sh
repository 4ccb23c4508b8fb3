#!/bin/sh
# A loader that is killed leaves nothing loaded, and the tasks go on.
set -eu

sh -c 'while :; do :; done' &
hog=$!
for _ in 1 2 3; do
    scx_evenkeel &
    loader=$!
    until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ]; do
        kill -0 $loader
        sleep 0.1
    done
    kill -KILL $loader
    wait $loader || true
    for _ in $(seq 50); do
        [ "$(cat /sys/kernel/sched_ext/state)" = disabled ] && break
        sleep 0.1
    done
    [ "$(cat /sys/kernel/sched_ext/state)" = disabled ]
done
before=$(cut -d ' ' -f 1 /proc/$hog/schedstat)
sleep 1
after=$(cut -d ' ' -f 1 /proc/$hog/schedstat)
kill $hog
echo "the busy task had $(((after - before) / 1000000)) ms in the second after"
[ "$after" -gt "$before" ]
ls /sys/fs/bpf | grep . && exit 1
exit 0
