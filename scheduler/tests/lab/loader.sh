# How tests load the scheduler and end it; found by `. loader.sh`.
set -eu

state() {
    cat /sys/kernel/sched_ext/state
}

# The name of the scheduler that is loaded.
ops() {
    (cd /sys/kernel/sched_ext/root && cat ops)
}

# Waits until sched_ext is in a state.
reach() {
    for _ in $(seq 100); do
        [ "$(state)" = "$1" ] && return
        sleep 0.1
    done
    echo "sched_ext is $(state) and not $1"
    exit 1
}

# Loads the scheduler, with arguments, under a watchdog of five seconds.
load() {
    scx_evenkeel --watchdog 5s "$@" &
    loader=$!
    reach enabled
}

# Ends it. One that the kernel ejected has gone before, and says so with its status.
unload() {
    kill -TERM "$loader"
    wait "$loader"
    reach disabled
}
