#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Do the readers survive so many inputs that coverage guides? run.sh RUNS [TARGET…]
#
# Each target runs RUNS inputs on one core at the lowest priority, from the seeds and what earlier
# runs kept in corpus/. Overflow checks are on. A crash ends it; its input is in artifacts/.
set -eu

cd "$(dirname "$0")/.."
runs=${1:?how many inputs for each target}
shift
[ $# -gt 0 ] || set -- import perf_data format trace_dat perfetto ektrace marks
for target in "$@"; do
    mkdir -p "fuzz/corpus/$target"
    nice -n 19 cargo +nightly fuzz run --sanitizer none "$target" \
        "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -runs="$runs" -max_len=16384 -print_final_stats=1
done
