#!/bin/sh
#SBATCH --job-name=evenkeel-sweep
#SBATCH --cpus-per-task=1
#SBATCH --output=sweep-%A-%a.log
# Runs one shard of a sweep as a task of a Slurm array.
#
#   sbatch --array=1-SHARDS scripts/sweep/slurm.sh GRID.toml FOLDER SHARDS
#   evenkeel sweep merge FOLDER -o FOLDER.parquet
#
# GRID.toml and FOLDER are on a file system that all nodes have. `--array=3,7` runs these shards
# alone again; the same line as at first keeps the parts that are there and runs the others.
set -eu

if [ $# -ne 3 ]; then
    sed -n '/^#   sbatch/s/^#   /usage: /p' "$0" >&2
    exit 2
fi
exec evenkeel sweep "$1" -o "$2" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "$SLURM_ARRAY_TASK_ID/$3"
