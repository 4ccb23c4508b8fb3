#!/bin/sh
# Ten minutes of everything that stress-ng calls a test of schedulers. Real-time and deadline tasks
# are among it, which leave a twentieth of each CPU to others, so the watchdog is the kernel's own.
# Limit in seconds: 1200
. loader.sh

scx_evenkeel --stats 60s &
loader=$!
reach enabled
stress-ng --class scheduler --all 1 --timeout 600 --quiet
unload
