#!/bin/sh
# Records how the threads of real x265 wait: `sh record.sh EVENKEEL VIDEO.y4m FOLDER`, as root.
# For each instruction set one encoder of eight threads, and four beside each other. The encoder's
# own account of each frame (its CSV) is kept beside the recording.
set -eu

evenkeel=$1 video=$2 folder=$3
mkdir -p "$folder"

encode() { # ASM FRAMES NAME
    echo "x265 --preset veryslow --pools 8 --asm $1 --frames $2" \
        "--csv $folder/$3.csv --csv-log-level 2 -o /dev/null $video 2>/dev/null"
}

for asm in SSE4.2 avx2 avx512; do
    name=$(echo "$asm" | tr '[:upper:]' '[:lower:]' | tr -d .)
    "$evenkeel" trace record -o "$folder/$name-1.ektrace" -- \
        sh -c "$(encode "$asm" 24 "$name-1")"
    four=
    for instance in 1 2 3 4; do
        four="$four $(encode "$asm" 10 "$name-4.$instance") &"
    done
    "$evenkeel" trace record -o "$folder/$name-4.ektrace" -- sh -c "$four wait"
done
