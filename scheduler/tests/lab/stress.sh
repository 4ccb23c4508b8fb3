#!/bin/sh
# No task waits for five seconds while stress-ng switches, forks, pins and renices.
set -eu

scx_evenkeel --watchdog 5s --stats 5s &
loader=$!
until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ]; do
    kill -0 $loader
    sleep 0.1
done
stress-ng --switch 4 --yield 4 --pthread 2 --futex 2 --sem 2 --pipe 2 --fork 2 --schedpolicy 2 \
    --nice 2 --affinity 2 --timeout 20 --quiet
# Whoever was ejected is gone, and says so with its status.
kill -TERM $loader
wait $loader
