#!/bin/sh
# Ten minutes of everything that stress-ng calls a test of schedulers.
# Limit in seconds: 900
. loader.sh

load --stats 60s
stress-ng --class scheduler --all 1 --timeout 600 --quiet
unload
