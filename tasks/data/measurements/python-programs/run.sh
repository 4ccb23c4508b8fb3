#!/bin/sh
# Prints samples.csv; arguments are a Python with the packages of openmp/tests/python, the
# number of rounds, the folder with libevenkeel_omp.so, and perhaps one with that of an earlier
# revision.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
programs=$here/../../../openmp/tests/python/programs.py
python=$1
rounds=$2
shift 2
ours=$1
echo job,library,round,answer,first_ms,later_ms,process_ms
for round in $(seq "$rounds"); do
	for job in boosting faiss kmeans lightgbm pairwise xgboost; do
		for library in theirs "$@"; do
			case $library in
			theirs) name=theirs preload= ;;
			"$ours") name=ours preload=$library/libevenkeel_omp.so ;;
			*) name=before preload=$library/libevenkeel_omp.so ;;
			esac
			begin=$(date +%s%N)
			said=$(LD_PRELOAD=$preload "$python" "$programs" $job)
			end=$(date +%s%N)
			# The answer, the first job, and the jobs after it.
			set_of=$(echo "$said" | tr '\n' ' ' | tr ' ' ,)
			echo "$job,$name,$round,$set_of$(((end - begin) / 1000000))"
		done
	done
done
