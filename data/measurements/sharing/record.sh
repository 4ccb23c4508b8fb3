#!/bin/sh
# Records programs beside backgrounds under a stock kernel in a virtual machine.
#
#     record.sh LAB KERNEL CPUS DILATION LIMIT_S FOLDER ROUNDS CASE... -- PROGRAM...
#
# Cases and results as in guest.sh. What was recorded after LIMIT_S seconds of this machine is kept.
set -eu
lab=$1 kernel=$2 cpus=$3 dilation=$4 limit=$5 folder=$6
shift 6
here=$(cd "$(dirname "$0")" && pwd)
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
chmod 755 "$tools"
cc -O2 -pthread "$here/loads.c" -lm -o "$tools/loads"
python3 "$here/programs.py" "$cpus" "$tools"
cp "$here/guest.sh" "$tools"
mkdir -p "$folder"
"$lab" --kernel "$kernel" --cpus "$cpus" --threads 2 --dilation "$dilation" --limit "$limit" \
    --results "$folder" "sh $tools/guest.sh $tools $cpus $*" 2> "$folder/lab.log" ||
    cat "$folder/lab.log"
