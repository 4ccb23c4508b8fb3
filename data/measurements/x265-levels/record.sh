#!/bin/sh
# Samples the instructions of real x265: `sh record.sh VIDEO.y4m FOLDER`, as root. perf samples each
# thread by its CPU time as often as the kernel lets it; FOLDER gets a gigabyte of samples for each
# instruction set.
set -eu

video=$1 folder=$2
mkdir -p "$folder"
percent=$(sysctl -n kernel.perf_cpu_time_max_percent)
rate=$(sysctl -n kernel.perf_event_max_sample_rate)
restore() {
    sysctl -qw "kernel.perf_cpu_time_max_percent=$percent" "kernel.perf_event_max_sample_rate=$rate"
}
trap restore EXIT
sysctl -qw kernel.perf_event_max_sample_rate=100000 kernel.perf_cpu_time_max_percent=0
for asm in avx2 avx512; do
    perf record -m 4096 -e cpu-clock -F 100000 -o "$folder/$asm.data" -- \
        x265 --preset veryslow --pools 8 --asm $asm --frames 6 -o /dev/null "$video"
    # CPU time of the same work when it is not sampled.
    bash -c "TIMEFORMAT='%U'; time x265 --preset veryslow --pools 8 --asm $asm --frames 6 \
        -o /dev/null '$video' 2>/dev/null" 2>"$folder/$asm.cpu_s"
done
