#!/bin/sh
# Loaded and unloaded a hundred times while tasks run. A load takes seconds in an interpreter: most
# of them in the loader, which reads what the kernel says of itself.
# Virtual CPUs in turns.
# Limit in seconds: 1500
. loader.sh

stress-ng --switch 1 --timeout 1500 --quiet &
work=$!
for _ in $(seq 100); do
    scx_evenkeel --watchdog 5s --for 50ms 2> said || {
        cat said
        exit 1
    }
done
reach disabled
kill $work
echo "enabled $(cat /sys/kernel/sched_ext/enable_seq) times"
