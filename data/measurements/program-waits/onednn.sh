#!/bin/sh
# Records how the threads of oneDNN's benchdnn --rnn wait, as root:
#
#     sh onednn.sh EVENKEEL BENCHDNN INPUTS FOLDER [THREADS...]
#
# BENCHDNN is that of oneDNN 2.6.3 (tests/benchdnn of its repository, linked with the libdnnl of
# Debian 12), INPUTS its folder inputs/rnn. Inference with large batches (perf_rnn_inference_lb),
# each network twice, with passive waiting (D 3.3.5), for each instruction set.
set -eu

evenkeel=$1 benchdnn=$2 inputs=$3 folder=$4
shift 4
[ $# -gt 0 ] || set -- 2 32
mkdir -p "$folder"
for isa in SSE41 AVX2 AVX512_CORE; do
    for threads in "$@"; do
        name=$(echo "$isa" | tr '[:upper:]' '[:lower:]' | tr -d _)
        (cd "$inputs" && "$evenkeel" trace record -o "$folder/benchdnn-$name-$threads.ektrace" -- \
            env OMP_WAIT_POLICY=passive OMP_NUM_THREADS="$threads" DNNL_MAX_CPU_ISA="$isa" \
            "$benchdnn" --rnn --mode=P --fix-times-per-prb=2 --prop=FWD_I \
            --batch=perf_rnn_inference_lb \
            >"$folder/benchdnn-$name-$threads.log" 2>&1)
    done
done
