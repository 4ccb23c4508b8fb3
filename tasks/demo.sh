#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# OpenMP programs that gcc compiled for libgomp, run on libgomp and, without a change to the file,
# on libevenkeel_omp.so: the best time of ROUNDS runs of each, and whether the results are equal.
set -eu

cd "$(dirname "$0")"
ROUNDS=${ROUNDS:-3}
build=${CARGO_TARGET_DIR:-target}/demo
# A program, its argument, and the piece of work that is a task.
PROGRAMS="fib n=24 a call of a Fibonacci function
nqueens size=10 a position of a chess board
sparselu blocks=24 a block of a sparse matrix
spawn-wait tasks=200000 empty, and waited for"

for tool in cargo gcc make; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "demo: no $tool here; on Debian and Ubuntu: sudo apt-get install gcc libc6-dev make," \
            "and Rust from rustup" >&2
        exit 1
    }
done

echo 'Building the library: two to six minutes the first time, then a second.' >&2
library=$(cargo openmp | tail -n 1)
mkdir -p "$build"
build=$(cd "$build" && pwd)
names=$(echo "$PROGRAMS" | cut -d ' ' -f 1)
# shellcheck disable=SC2086 # A list of names.
make --silent -C peers OUT="$build" $(printf "$build/openmp-gcc/%s " $names)

# The value of a key in the line of JSON that a program prints.
value() {
    printf '%s\n' "$1" | sed -n "s/.*\"$2\":\"\{0,1\}\([^,\"}]*\).*/\1/p"
}

# Runs a program ROUNDS times and sets best_ns and result: its tasks and its own check.
best() {
    best_ns=
    round=0
    while [ "$round" -lt "$ROUNDS" ]; do
        round=$((round + 1))
        line=$(env "$@") || true
        ns=$(value "$line" wall_ns)
        result="$(value "$line" tasks) tasks, check $(value "$line" check)"
        if [ -z "$best_ns" ] || [ "$ns" -lt "$best_ns" ]; then
            best_ns=$ns
        fi
    done
}

echo "$(gcc --version | head -n 1), $(nproc) CPUs, best of $ROUNDS runs"
printf '%-11s %-32s %10s %10s %7s  %s\n' program 'a task is' libgomp evenkeel ratio result
status=0
while read -r name argument about; do
    program=$build/openmp-gcc/$name
    best "$program" "$argument" threads="$(nproc)"
    theirs_ns=$best_ns theirs=$result
    best LD_PRELOAD="$library" "$program" "$argument" threads="$(nproc)"
    case $result in
    "$theirs") equal="equal: $result" ;;
    *) equal="DIFFERENT: $theirs; $result" status=1 ;;
    esac
    awk -v theirs="$theirs_ns" -v ours="$best_ns" -v name="$name" -v about="$about" \
        -v equal="$equal" 'BEGIN {
            printf "%-11s %-32s %7.1f ms %7.1f ms", name, about, theirs / 1e6, ours / 1e6
            printf " %6.1fx  %s\n", theirs / ours, equal
        }'
done <<END
$PROGRAMS
END
echo 'Both ran the same files. Tasks of microseconds gain; loops of coarse work do not.'
echo "Your own program: LD_PRELOAD=$library ./program"
exit "$status"
