#!/bin/sh
# No task waits for five seconds while stress-ng switches, forks, pins and renices.
. loader.sh

load --stats 10s
stress-ng --switch 4 --yield 4 --pthread 2 --futex 2 --sem 2 --pipe 2 --fork 2 --schedpolicy 2 \
    --nice 2 --affinity 2 --timeout 20 --quiet
unload
