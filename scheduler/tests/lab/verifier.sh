#!/bin/sh
# What the kernel's verifier did with each operation, for `cargo xtask lab` to compare.
. loader.sh

export VERIFIER_SAYS="$PWD/said"
for mode in fair fair-relative fair-isolation even specialize fair-specialize; do
    echo "mode $mode" >> said
    LD_PRELOAD=/run/result/bin/verifier.so \
        scx_evenkeel --mode $mode --cpu xeon-gold-6130 --for 1s > loader 2>&1 || {
        cat loader
        exit 1
    }
    reach disabled
done
grep -q processed said

# With cores of low priority the verifier follows two tables of frequencies.
for mode in even fair-specialize; do
    scx_evenkeel --mode $mode --cpu cascade-lake-sst-tf --for 1s > loader 2>&1 || {
        cat loader
        exit 1
    }
    reach disabled
done
