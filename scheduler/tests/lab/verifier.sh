#!/bin/sh
# What the kernel's verifier did with each operation, for `cargo xtask lab` to compare.
. loader.sh

export VERIFIER_SAYS="$PWD/said"
: > said
LD_PRELOAD=/run/result/bin/verifier.so scx_evenkeel --for 1s 2> loader
grep -q processed said
reach disabled
