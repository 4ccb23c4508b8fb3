#!/bin/sh
# Many senders and receivers switch at most 1.3 times as often as under EEVDF: 160 tasks, three
# rounds of each, medians compared. Other programs of the machine hardly switch meanwhile.
. loader.sh

switches() { # FILE
    for round in 1 2 3; do
        before=$(sed -n 's/^ctxt //p' /proc/stat)
        perf bench -f simple sched messaging -g 4 -l 100 >/dev/null
        echo $(($(sed -n 's/^ctxt //p' /proc/stat) - before))
    done | sort -n >"$1"
}

switches eevdf
load
switches fair
unload
echo "switches under EEVDF: $(tr '\n' ' ' <eevdf)"
echo "under fair:           $(tr '\n' ' ' <fair)"
eevdf=$(sed -n 2p eevdf) fair=$(sed -n 2p fair)
echo "ratio of the medians: $((100 * fair / eevdf)) %"
[ $((10 * fair)) -le $((13 * eevdf)) ]
