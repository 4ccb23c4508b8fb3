#!/bin/sh
# Runs a sweep in shards by HyperQueue, where a server and workers run. NOT TRIED by this project.
#
#   scripts/sweep/hyperqueue.sh GRID.toml FOLDER SHARDS
set -eu

grid=$1 folder=$2 shards=$3
hq submit --array "1-$shards" --cpus 1 --wait -- sh -c \
    "evenkeel sweep '$grid' -o '$folder' --jobs 1 --shard \$HQ_TASK_ID/$shards"
evenkeel sweep merge "$folder" -o "$folder.parquet"
