#!/bin/sh
# Prints samples.csv; the argument is the folder with libevenkeel_omp.so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(mktemp -d)
trap 'kill ${load:-} 2>/dev/null || true; rm -rf "$built"' EXIT
gcc -O2 -fopenmp "$here/regions.c" -o "$built/gcc"
clang -O2 -fopenmp "$here/regions.c" -o "$built/clang"
ours=$1/libevenkeel_omp.so
echo beside,threads,program,library,round,ns_per_region
for beside in nothing two-cpu-hogs; do
	if [ $beside = two-cpu-hogs ]; then
		stress-ng --quiet --cpu 2 &
		load=$!
		sleep 1
	fi
	for round in 1 2 3 4 5 6 7 8 9 10; do
		for threads in 2 3 4 8 16 32; do
			regions=$((8000 / threads))
			for program in gcc clang; do
				for library in theirs ours; do
					if [ $library = ours ]; then export LD_PRELOAD=$ours; fi
					ns=$("$built/$program" $threads $regions)
					unset LD_PRELOAD
					echo $beside,$threads,$program,$library,$round,$ns
				done
			done
		done
	done
done
