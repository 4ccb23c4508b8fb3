#!/bin/sh
# The scheduler loads, says so, keeps others out, and goes without a trace when told to.
set -eu

sched_ext=/sys/kernel/sched_ext
state() {
    cat "$sched_ext/state"
}
is() {
    for _ in $(seq 50); do
        [ "$(state)" = "$1" ] && return
        sleep 0.1
    done
    echo "sched_ext is $(state) and not $1"
    exit 1
}

scx_evenkeel --check
is disabled
scx_evenkeel --watchdog 5s > first 2>&1 &
loader=$!
is enabled
[ "$(cd "$sched_ext/root" && cat ops)" = evenkeel ]

if scx_evenkeel 2> second; then
    echo "a second one was loaded"
    exit 1
fi
grep -q "sched_ext runs another scheduler, evenkeel" second

kill -TERM $loader
wait $loader
is disabled
grep "the kernel's own scheduler has the tasks again" first

scx_evenkeel --for 1s --stats 500ms
is disabled
