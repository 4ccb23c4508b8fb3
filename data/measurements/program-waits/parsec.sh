#!/bin/sh
# Records how the threads of Parsec's programs wait, as root:
#
#     sh parsec.sh EVENKEEL PARSEC FOLDER [THREADS...]
#
# PARSEC is a checkout of Parsec 3.0 (github.com/cirosantilli/parsec-benchmark at d4d9afdd). Needs
# gcc, g++, make, m4, python3, libssl-dev and zlib1g-dev. Programs are built with gcc -O2 (Parsec
# has -O3; SSE2 alone either way), inputs are made by parsec-inputs.py, and each program is recorded
# with 2, 8 and 32 threads unless THREADS says otherwise.
set -eu

evenkeel=$1 parsec=$2 folder=$3
shift 3
[ $# -gt 0 ] || set -- 2 8 32
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder/build" "$folder/in"

unpack() { # KIND PROGRAM
    [ -e "$folder/build/$2" ] || cp -r "$parsec/pkgs/$1/$2/src" "$folder/build/$2"
}

build() { # KIND PROGRAM MAKE-ARGUMENTS...
    kind=$1 program=$2
    shift 2
    unpack "$kind" "$program"
    # Flags come from the environment, for the makefiles add theirs.
    CFLAGS="$flags -std=gnu99 -I." CXXFLAGS="$flags -fpermissive" LDFLAGS=-pthread CXX=g++ CC=gcc \
        make -s -C "$folder/build/$program" "$@" >"$folder/build/$program.log" 2>&1 || {
        echo "record: $program does not build, see $folder/build/$program.log" >&2
        return 1
    }
}

flags='-O2 -g -w -pthread -fcommon -Dlinux'
unpack apps blackscholes
(cd "$folder/build/blackscholes" &&
    m4 c.m4.pthreads blackscholes.c >blackscholes.m4.cpp &&
    g++ $flags -DENABLE_THREADS -DNCO=4 -o blackscholes blackscholes.m4.cpp &&
    gcc -O2 -w -o inputgen inputgen.c)
build apps swaptions version=pthreads
build apps fluidanimate version=pthreads
(flags="$flags -fopenmp" && build apps freqmine version=openmp LDFLAGS=-fopenmp)
build kernels canneal version=pthreads
build kernels dedup version=pthreads
build kernels streamcluster version=pthreads

[ -e "$folder/in/options.txt" ] ||
    (cd "$folder/build/blackscholes" && ./inputgen 1000000 "$folder/in/options.txt")
python3 "$here/parsec-inputs.py" "$folder/in"

record() { # PROGRAM THREADS COMMAND...
    program=$1 threads=$2
    shift 2
    [ ! -e "$folder/$program-$threads.ektrace" ] || return 0
    echo "record: $program, $threads threads" >&2
    name=$folder/$program-$threads
    (cd "$folder/in" && timeout 300 "$evenkeel" trace record -o "$name.ektrace" -- \
        env OMP_NUM_THREADS="$threads" "$@" >"$name.log" 2>&1) ||
        echo "record: $program failed, see $name.log" >&2
}

b=$folder/build
# The arguments of Parsec's simlarge, but for the names of inputs.
for n in "$@"; do
    record blackscholes "$n" "$b/blackscholes/blackscholes" "$n" options.txt /dev/null
    record canneal "$n" "$b/canneal/canneal" "$n" 15000 2000 netlist.nets 128
    record dedup "$n" "$b/dedup/dedup" -c -p -t "$n" -i media.dat -o /dev/null
    record fluidanimate "$n" "$b/fluidanimate/fluidanimate" "$n" 5 particles.fluid
    record freqmine "$n" "$b/freqmine/freqmine" transactions.dat 790
    record streamcluster "$n" "$b/streamcluster/streamcluster" \
        10 20 128 16384 16384 1000 none /dev/null "$n"
    record swaptions "$n" "$b/swaptions/swaptions" -ns 64 -sm 40000 -nt "$n"
done
