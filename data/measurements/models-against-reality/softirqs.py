#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gives wake-ups by softirqs that the running task raised to that task.

    perf script --ns --show-lost-events -F comm,pid,tid,cpu,time,event,trace -i FILE.data \\
        | softirqs.py > FILE.txt          # to be imported by `evenkeel trace import`

A task that sends to its own machine raises a softirq, which delivers the message and wakes the
receiver. Lines that say where such a softirq begins and ends are left out, so that the importer
takes what happens in it for the task's. Counts of wake-ups by cause go to standard error. The
recording needs `irq:softirq_raise` beside `irq:*_entry`, `irq:*_exit` and
`irq_vectors:local_timer_*`.
"""

import collections
import re
import sys

EVENT = re.compile(
    r"\s-?\d+/(-?\d+)\s+\[(\d+)\]\s+[\d.]+:\s+(irq|irq_vectors|sched):(\w+):\s*(?:vec=(\d+))?"
)


def main():
    # By CPU: interrupts that run, the innermost last, and whether a task raised each.
    nested = collections.defaultdict(list)
    # By CPU: pending softirqs that a task raised, a bit each.
    raised = collections.defaultdict(int)
    causes = collections.Counter()
    for line in sys.stdin:
        found = EVENT.search(line)
        if not found:
            sys.stdout.write(line)
            continue
        tid, cpu, group, event, vector = found.groups()
        running = nested[cpu]
        bit = 1 << int(vector or 0)
        if event == "softirq_raise":
            if running[-1] if running else tid != "0":
                raised[cpu] |= bit
            continue
        if event == "softirq_entry":
            by_task = bool(raised[cpu] & bit)
            raised[cpu] &= ~bit
            running.append(by_task)
            if by_task:
                continue
        elif group != "sched" and event.endswith("_entry"):
            running.append(False)
        elif group != "sched" and event.endswith("_exit"):
            if running and running.pop():
                continue
        elif event == "sched_switch":
            running.clear()
        elif event == "sched_waking":
            by_task = running and running[-1]
            causes["softirq of the task" if by_task else "interrupt" if running else "task"] += 1
        sys.stdout.write(line)
    print(dict(causes), file=sys.stderr)


if __name__ == "__main__":
    main()
