#!/bin/sh
# Ten thousand threads, storms of forks and execs, affinities that change, real-time tasks beside.
. loader.sh

ulimit -n 65536
load --stats 10s
perf bench sched messaging -t -g 250 -l 1 | grep -E 'threads|Total'
stress-ng --fork 4 --exec 4 --affinity 4 --vfork 2 --timeout 15 --quiet
# A real-time task leaves 0.05 s of each second to others.
chrt -f 10 sh -c 'end=$(($(date +%s) + 10)); while [ $(date +%s) -lt $end ]; do :; done' &
stress-ng --cpu 4 --timeout 10 --quiet
wait $!
unload
