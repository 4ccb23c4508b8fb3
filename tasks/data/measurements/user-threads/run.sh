#!/bin/sh
# Writes samples.csv and second.csv to the current folder; arguments are the folder with
# libevenkeel_omp.so, and perhaps one with that of an earlier revision.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
for compiler in gcc clang; do
	for source in threads second; do
		$compiler -O2 -fopenmp "$here/$source.c" -o "$built/$compiler-$source" -lpthread
	done
done

# Prints what a program says with its own library (theirs), with ours or with that before.
with() {
	library=$1
	shift
	case $library in
	theirs) "$@" ;;
	*) LD_PRELOAD=$library/libevenkeel_omp.so "$@" ;;
	esac
}

name_of() {
	case $1 in
	theirs) echo theirs ;;
	"$ours") echo ours ;;
	*) echo before ;;
	esac
}

ours=$1
echo program,library,threads,round,us >samples.csv
echo program,library,round,first_ns,second_ns,third_ns >second.csv
round=0
while [ $round -lt 25 ]; do
	round=$((round + 1))
	for program in gcc clang; do
		for library in theirs "$@"; do
			name=$(name_of "$library")
			for threads in 1 4 16; do
				us=$(with "$library" "$built/$program-threads" $threads 300)
				echo "$program,$name,$threads,$round,$us" >>samples.csv
			done
			ns=$(with "$library" "$built/$program-second")
			echo "$program,$name,$round,$ns" >>second.csv
		done
	done
done
