#!/bin/sh
# Runs a sweep in shards on this machine by GNU parallel, and merges the parts.
#
#   scripts/sweep/parallel.sh GRID.toml FOLDER SHARDS [OPTIONS OF GNU PARALLEL...]
#
# `--sshlogin` among the options runs shards on other machines too, which then need the command, the
# grid and FOLDER at the same places. Interrupted or killed, the same line goes on: a part that is
# there is kept, and one of another grid is refused. FOLDER/joblog has the time of each shard; with
# `--resume-failed` among the options shards that it says have ended are not even looked at.
set -eu

if [ $# -lt 3 ]; then
    sed -n '/^#   /s/^#   /usage: /p' "$0" >&2
    exit 2
fi
grid=$1 folder=$2 shards=$3
shift 3
mkdir -p "$folder"
seq "$shards" | parallel -q --joblog "$folder/joblog" "$@" \
    evenkeel sweep "$grid" -o "$folder" --jobs 1 --shard "{}/$shards"
evenkeel sweep merge "$folder" -o "$folder.parquet"
