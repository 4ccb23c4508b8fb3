#!/bin/sh
# Weights, limits and idleness of control groups have no effect under this scheduler: it refuses to
# start where one is set, unless --ignore-cgroups is given, and ends where one is set while it runs.
. loader.sh

groups=/sys/fs/cgroup
echo +cpu > "$groups/cgroup.subtree_control"
mkdir "$groups/outer"
echo +cpu > "$groups/outer/cgroup.subtree_control"
mkdir "$groups/outer/inner"

# Waits until the loader ends by itself, and looks whether it says this.
ended_by() {
    status=0
    wait "$loader" || status=$?
    reach disabled
    cat said
    [ "$status" = 2 ]
    grep -q "control groups were given weights or limits" said
    grep -q "^  $1 is \`$2\`$" said
}

# Sets a file of a group before the scheduler starts, then while it runs.
refuses() {
    file=$groups/$1
    status=0
    echo "$2" > "$file"
    scx_evenkeel 2> said || status=$?
    cat said
    [ "$status" = 2 ]
    grep -q "control groups have weights or limits" said
    grep -q "^  $file is \`$2\`$" said
    [ "$(state)" = disabled ]

    scx_evenkeel --ignore-cgroups 2> said &
    loader=$!
    reach enabled
    # Longer than the loader waits between looks.
    sleep 3
    unload
    grep -q "these settings of control groups have no effect" said

    echo "$3" > "$file"
    scx_evenkeel 2> said &
    loader=$!
    reach enabled
    sleep 3
    [ "$(state)" = enabled ]
    echo "$2" > "$file"
    ended_by "$file" "$2"
    echo "$3" > "$file"
}

refuses outer/cpu.weight 400 100
refuses outer/inner/cpu.max "50000 100000" "max 100000"
refuses outer/inner/cpu.idle 1 0

# A group that is made while it runs.
scx_evenkeel 2> said &
loader=$!
reach enabled
mkdir "$groups/outer/new"
echo 20 > "$groups/outer/new/cpu.weight"
ended_by "$groups/outer/new/cpu.weight" 20
[ -z "$(ls /sys/fs/bpf)" ]
