#!/bin/sh
# A task that the scheduler loses: the kernel takes all tasks back, and the loader says which it was
# and prints the kernel's dump with what the scheduler adds to it.
# The build loses those of nice 19.
# The kernel may say: "evenkeel" disabled (runnable task stall)
# The kernel may say: failed to run for
. loader.sh

scx_evenkeel_lossy --watchdog 5s 2> said &
loader=$!
reach enabled
nice -n 19 sh -c 'while :; do :; done' &
lost=$!
status=0
wait "$loader" || status=$?
cat said
[ "$status" = 1 ]
grep -q "the kernel ended it: runnable task stall" said
grep -q "\[$lost\] failed to run for [5-9]" said
grep -q "CPU states" said
grep -q "cache 0: 2 CPUs, 0 starved tasks queued" said
grep -q "queued for this CPU alone" said
grep -A 6 "\[$lost\]" said | grep -q "virtual time .* nice 19"
reach disabled
before=$(cut -d ' ' -f 1 /proc/$lost/schedstat)
sleep 1
[ "$(cut -d ' ' -f 1 /proc/$lost/schedstat)" -gt "$before" ]
kill "$lost"
[ -z "$(ls /sys/fs/bpf)" ]
# The one that is shipped takes them again, and does not lose such a task.
load
nice -n 19 sh -c 'exit 7' || [ $? = 7 ]
unload
