#!/bin/sh
# Real-time tasks take every CPU for longer than the watchdog waits. From 7.0 on a deadline server
# keeps a part of each CPU for sched_ext's tasks; before, the kernel takes them back and says which
# of them it waited for.
# The kernel may say: "evenkeel" disabled (runnable task stall)
# The kernel may say: sched_ext: evenkeel: 
. loader.sh

load 2> said
sh -c 'while :; do :; done' &
busy=$!
hogs=
for cpu in $(seq 0 $(($(nproc) - 1))); do
    # Above what it has to end.
    taskset -c "$cpu" chrt -f 20 timeout 12 chrt -f 10 sh -c 'while :; do :; done' &
    hogs="$hogs $!"
done
for hog in $hogs; do
    wait "$hog" || [ $? = 124 ]
done

before=$(cut -d ' ' -f 1 /proc/$busy/schedstat)
sleep 2
[ "$(cut -d ' ' -f 1 /proc/$busy/schedstat)" -gt "$before" ]
kill "$busy"
if [ "$(uname -r | cut -d . -f 1)" -ge 7 ]; then
    unload
else
    status=0
    wait "$loader" || status=$?
    [ "$status" = 1 ]
    grep -q "the kernel ended it: runnable task stall" said
    grep -qE '\[[0-9]+\] failed to run for|watchdog failed to check in' said
    reach disabled
fi
cat said
