#!/bin/sh
# The scheduler loads, says so, keeps others out, and goes without a trace when told to.
. loader.sh

scx_evenkeel --check
reach disabled
load > first 2>&1
[ "$(ops)" = evenkeel ]

if scx_evenkeel 2> second; then
    echo "a second one was loaded"
    exit 1
fi
grep -q "sched_ext runs another scheduler, evenkeel" second

unload
grep "the kernel's own scheduler has the tasks again" first

scx_evenkeel --for 1s --stats 500ms
reach disabled
