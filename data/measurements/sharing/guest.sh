#!/bin/sh
# Runs in the guest: each program beside each background, traced by the kernel.
#
#     guest.sh FOLDER THREADS ROUNDS CASE... -- PROGRAM...
#
# FOLDER has loads and a folder of *.steps for each background. THREADS is that of the program and
# of the background. A CASE is encoder or loop, then `,nice=N` for the background, `,apart` for
# autogroup with background and program in two sessions, as from two terminals, and `,latency=MS`
# for the latency of the scheduler (kernels before 5.13). Traces and completion times go to folders
# CASE-ROUND of the current folder.
set -u
folder=$1 threads=$2 rounds=$3
shift 3
cases=
while [ "$1" != -- ]; do
    cases="$cases $1"
    shift
done
shift
results=$PWD own=$(mktemp -d)
uname -r > kernel
cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list > siblings
cd /sys/kernel/tracing
echo 0 > tracing_on
echo mono > trace_clock
echo 16384 > buffer_size_kb
echo 1 > events/sched/sched_switch/enable

latency=/proc/sys/kernel/sched_latency_ns
usual_latency_ns=$(cat $latency 2> /dev/null || true)

# The program of the shell that starts the background; all of it is one session.
background() {
    cat << END
for instance in $(seq -s ' ' $instances); do
    nice -n $nice $folder/loads $application $each \$(($seed + instance)) \
        $steps/$application.steps &
    echo \$! >> $own/pids
done
wait
END
}

run() {
    nice=0 session= group=0 latency_ns=$usual_latency_ns
    for word in $(echo "$case" | tr , ' '); do
        case $word in
        encoder) application=x265 instances=4 each=$((threads / 4)) ;;
        loop) application=synthetic instances=1 each=$threads ;;
        nice=*) nice=${word#nice=} ;;
        latency=*) latency_ns=${word#latency=}000000 ;;
        apart) session="setsid -w" group=1 ;;
        esac
    done
    steps=$folder/${case%%,*}
    into=$results/$case-$round
    mkdir -p "$into"
    rm -f $own/pids
    background > $own/background
    echo $group > /proc/sys/kernel/sched_autogroup_enabled
    if [ "$latency_ns" ]; then echo "$latency_ns" > $latency; fi
    $session sh $own/background &
    sleep 0.05
    echo > trace
    echo 1 > tracing_on
    $session $folder/loads "$program" "$threads" "$seed" "$steps/$program.steps" \
        >> "$into/completions"
    echo 0 > tracing_on
    for pid in $(cat $own/pids); do kill -KILL "$pid"; done
    wait
    cat trace > "$into/$program.trace"
    sync
}

seed=0
for round in $(seq "$rounds"); do
    for case in $cases; do
        for program in "$@"; do
            seed=$((seed + 100))
            run
        done
    done
done
cat per_cpu/cpu*/stats | grep overrun | sort | uniq -c > "$results/lost"
