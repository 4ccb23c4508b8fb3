#!/bin/sh
# Limit in seconds: 300
# Real programs, one of which uses wide registers: what the others lost is given back, and it pays.
# In QEMU's interpreter AVX2 stands for AVX-512, in a build for tests. Leaves fair-isolation.ekdec
# and even.ekdec.
. loader.sh

openssl enc -aes-256-ctr -pass pass:y -pbkdf2 -in /dev/zero 2> /dev/null |
    head -c 20000000 > noise.yuv || true
for mode in fair-isolation even; do
    scx_evenkeel_stand_in --watchdog 5s --mode $mode --cpu xeon-gold-6130 \
        --sensors xinuse --decisions $mode.ekdec --stats 5s &
    loader=$!
    reach enabled
    timeout 20 x265 --asm avx2 --input noise.yuv --input-res 320x180 --fps 30 -o out.hevc &
    timeout 20 xz -6 -T1 -k -c noise.yuv > /dev/null &
    timeout 20 openssl speed -seconds 20 sha256 &
    timeout 20 perf bench sched pipe -l 1000000 &
    sleep 22
    unload
    [ -s $mode.ekdec ]
done
rm -f noise.yuv out.hevc
