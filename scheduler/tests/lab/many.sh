#!/bin/sh
# Ten thousand threads, storms of forks and execs, affinities that change.
. loader.sh

ulimit -n 65536
load --stats 10s
perf bench sched messaging -t -g 250 -l 1 | grep -E 'threads|Total'
stress-ng --fork 4 --exec 4 --affinity 4 --vfork 2 --timeout 15 --quiet
unload
