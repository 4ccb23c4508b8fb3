#!/bin/sh
# Another scheduler is left alone, and leaves ours alone.
# The kernel may say: "simple" enabled
# The kernel may say: "simple" disabled (unregistered from user space)
. loader.sh

load_object /run/result/bin/scx_simple.bpf.o 2> simple &
other=$!
reach enabled
status=0
scx_evenkeel 2> said || status=$?
cat said
[ "$status" = 2 ]
grep -q "sched_ext runs another scheduler, simple: end it first" said
[ "$(ops)" = simple ]
kill "$other"
wait "$other"
reach disabled

load
if load_object /run/result/bin/scx_simple.bpf.o 2> simple; then
    echo "another was loaded"
    exit 1
fi
[ "$(ops)" = evenkeel ]
unload
