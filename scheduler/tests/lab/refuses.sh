#!/bin/sh
# What keeps the scheduler out is said in one sentence, with status 2, and nothing is loaded.
# Any kernel.
set -eu

# Runs a command that must be refused with these words.
refused() {
    words=$1
    shift
    status=0
    "$@" > said 2>&1 || status=$?
    cat said
    [ "$status" = 2 ] && [ "$(wc -l < said)" = 1 ] && grep -q "$words" said
}

: > empty
refused "does not describe itself" scx_evenkeel --check --btf empty
refused "does not describe itself" scx_evenkeel --check --btf /bin/true
head -c 100000 /sys/kernel/btf/vmlinux > cut
refused "does not describe itself" scx_evenkeel --check --btf cut

# A kernel without a description of itself.
mkdir nothing
mount --bind nothing /sys/kernel/btf
refused "needs CONFIG_DEBUG_INFO_BTF=y" scx_evenkeel
umount /sys/kernel/btf

if scx_evenkeel --check > checked 2>&1; then
    refused "no right to load a scheduler" \
        setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all scx_evenkeel
elif [ -e /sys/kernel/sched_ext ]; then
    refused "such wrong BTF; take another version" scx_evenkeel
else
    refused "needs Linux 6.18 or newer, built with CONFIG_SCHED_CLASS_EXT=y" scx_evenkeel
fi
[ ! -e /sys/kernel/sched_ext ] || [ "$(cat /sys/kernel/sched_ext/state)" = disabled ]
[ -z "$(ls /sys/fs/bpf)" ]
