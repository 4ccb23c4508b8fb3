#!/bin/sh
# A loader that is killed leaves nothing loaded, and the tasks go on.
. loader.sh

sh -c 'while :; do :; done' &
busy=$!
for _ in 1 2 3; do
    load
    kill -KILL "$loader"
    wait "$loader" || true
    reach disabled
done
before=$(cut -d ' ' -f 1 /proc/$busy/schedstat)
sleep 1
after=$(cut -d ' ' -f 1 /proc/$busy/schedstat)
kill $busy
[ "$after" -gt "$before" ]
[ -z "$(ls /sys/fs/bpf)" ]
