#!/bin/sh
# Ten minutes of all that stress-ng calls a test of schedulers, but for `softlockup`, which keeps
# each CPU at the highest real-time priority until the kernel complains, under its own scheduler
# too. Real-time and deadline tasks are among the others; they leave a twentieth of each CPU, so the
# watchdog is the kernel's own.
# Limit in seconds: 1200
# Threads of `loadavg` wait for one mutex for minutes, under the kernel's own scheduler too:
# The kernel may say: blocked for more than
# The kernel may say: Call Trace:
. loader.sh

scx_evenkeel --stats 60s &
loader=$!
reach enabled
stress-ng --class scheduler --exclude softlockup --all 1 --timeout 600 --quiet
unload
