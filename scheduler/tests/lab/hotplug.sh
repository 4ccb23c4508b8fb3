#!/bin/sh
# CPUs come and go under load; tasks that were bound to one go on elsewhere.
. loader.sh

load --stats 10s
tasks=
for _ in 1 2 3; do
    sh -c 'while :; do :; done' &
    tasks="$tasks $!"
    taskset -c 1 sh -c 'while :; do sleep 0.01; done' &
    tasks="$tasks $!"
    # It cannot be bound to a CPU that is off by then.
    until taskset -cp $! | grep -q ': 1$'; do sleep 0.1; done
done
for _ in $(seq 10); do
    echo 0 > /sys/devices/system/cpu/cpu1/online
    sleep 0.5
    echo 1 > /sys/devices/system/cpu/cpu1/online
    sleep 0.5
done
for task in $tasks; do
    before=$(cut -d ' ' -f 3 /proc/"$task"/schedstat)
    sleep 2
    [ "$(cut -d ' ' -f 3 /proc/"$task"/schedstat)" -gt "$before" ]
done
kill $tasks
unload
