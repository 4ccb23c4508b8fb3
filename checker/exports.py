#!/usr/bin/env python3
"""Do programs of others read in our exports what the histories say?

For each FILE.ektrace, FILE.pftrace is read with the descriptors of the package `perfetto`, and
FILE.dat by `trace-cmd report`: plainly, raw (-R) and as a profile (--profile). Switches with their
times, order and states, times of tasks, wake-ups, levels and decisions must agree to the ns.

Exit code 0: everything agrees; 1: something does not; 2: a file cannot be read.
"""

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import history
from history import BadInput

STATES = {"runnable": 0, "blocked": 1, "dead": 16}
LETTERS = {"R": 0, "S": 1, "X": 16}
# trace-cmd 3.3 puts flags between CPU and time, as in `..h..`; 3.1 does not.
LINE = re.compile(r"^.{16,} +\[(\d+)\] +(?:[^ ]{5} +)?(\d+)\.(\d{9}): (\w+): +(.*)$")
FIELDS = {
    "sched_switch": re.compile(
        r"prev_comm=(.*) prev_pid=(\d+) prev_prio=(\d+) prev_state=(\w) ==> "
        r"next_comm=(.*) next_pid=(\d+) next_prio=(\d+)$"),
    "sched_waking": re.compile(r"comm=(.*) pid=(\d+) prio=(\d+) target_cpu=(\d+)$"),
    "license": re.compile(r"core=(\d+) level=(\d+) rate_permille=(\d+)$"),
    "decision": re.compile(
        r"victim=(\d+) culprit=(\d+) slice_ns=(\d+) refund_ns=(\d+) bill_ns=(\d+)$"),
}
PROFILED = re.compile(r"^  Event: (sched_switch:\w|sched_wakeup:\w+) \((\d+)\) Total: (\d+) ")


class Seen:
    """What one reader found."""

    def __init__(self):
        # By CPU: (time, task that left, state, task that came).
        self.switches = defaultdict(list)
        # (time, task, CPU), (time, core, level), (time, CPU, slice, refund, bill).
        self.wakes, self.levels, self.decisions = [], [], []
        self.names, self.prios = {}, {}

    def learn(self, task, comm, prio):
        if task != 0:
            self.names[task], self.prios[task] = comm, prio

    def run_times(self, end_ns):
        """Time on a CPU by task."""
        times = defaultdict(int)
        for rows in self.switches.values():
            ends = [row[0] for row in rows[1:]] + [end_ns]
            for (since, _, _, task), until in zip(rows, ends):
                times[task] += until - since
        times.pop(0, None)
        return dict(times)

    def differences(self, other, end_ns):
        """Where another reader found something else, in words."""
        tasks = set(self.run_times(end_ns))
        for name, ours, theirs in (
            ("switches", dict(self.switches), dict(other.switches)),
            ("run times", self.run_times(end_ns), other.run_times(end_ns)),
            ("wake-ups", sorted(self.wakes), sorted(other.wakes)),
            ("levels", sorted(self.levels), sorted(other.levels)),
            ("decisions", sorted(self.decisions), sorted(other.decisions)),
            ("names", chosen(self.names, tasks), chosen(other.names, tasks)),
            ("priorities", chosen(self.prios, tasks), chosen(other.prios, tasks)),
        ):
            if ours != theirs:
                yield f"{name}: {first_difference(ours, theirs)}"


def chosen(table, keys):
    return {key: table.get(key) for key in keys}


def first_difference(ours, theirs):
    if isinstance(ours, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            if ours.get(key) != theirs.get(key):
                return f"{key}: {first_difference(ours.get(key), theirs.get(key))}"
    if isinstance(ours, list) and isinstance(theirs, list):
        for one, other in zip(ours, theirs):
            if one != other:
                return f"{one} is {other}"
        return f"{len(ours)} are {len(theirs)}"
    return f"{ours} is {theirs}"


def of_history(header, records, comm_bytes):
    """What the history says; names are cut to so many bytes."""
    seen = Seen()
    for task in header["tasks"]:
        comm = task["comm"].encode()[:comm_bytes].decode(errors="ignore")
        seen.learn(task["tid"], comm, 120 + task["nice"])
    for record in records:
        t, kind = record["t"], record["e"]
        if kind == "switch":
            row = (t, record["prev"], STATES[record["state"]], record["next"])
            seen.switches[record["cpu"]].append(row)
        elif kind == "wake":
            seen.wakes.append((t, record["task"], record["cpu"]))
        elif kind == "license":
            seen.levels.append((t, record["core"], record["level"]))
        elif kind == "decision":
            seen.decisions.append((t, *(record[key] for key in (
                "cpu", "victim", "culprit", "slice_ns", "refund_ns", "bill_ns"))))
    return seen


def of_perfetto(data):
    """What Google's descriptors find in a trace."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
    trace = pb.Trace()
    trace.ParseFromString(data)
    seen, tracks, begun, names = Seen(), {}, {}, {}
    for packet in trace.packet:
        for thread in packet.process_tree.threads:
            names[thread.tid] = thread.name
        for event in packet.ftrace_events.event:
            of_ftrace_event(seen, packet.ftrace_events.cpu, event)
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
        if packet.HasField("track_event"):
            of_track_event(seen, tracks, begun, packet)
    for task, name in seen.names.items():
        if names.get(task) != name:
            raise BadInput(f"thread {task} is {names.get(task)} and {name}")
    return seen


def of_ftrace_event(seen, cpu, event):
    if event.HasField("sched_switch"):
        it = event.sched_switch
        row = (event.timestamp, it.prev_pid, it.prev_state, it.next_pid)
        seen.switches[cpu].append(row)
        seen.learn(it.prev_pid, it.prev_comm, it.prev_prio)
        seen.learn(it.next_pid, it.next_comm, it.next_prio)
    elif event.HasField("sched_waking"):
        it = event.sched_waking
        seen.wakes.append((event.timestamp, it.pid, it.target_cpu))


def of_track_event(seen, tracks, begun, packet):
    """Levels, and decisions: slices that begin with the slice they are about."""
    event = packet.track_event
    words = tracks[event.track_uuid].split()
    if words[2:] == ["license", "level"]:
        seen.levels.append((packet.timestamp, int(words[1]), event.counter_value))
    elif words[2:] == ["time", "given", "back"]:
        if event.type == event.TYPE_SLICE_BEGIN:
            begun[event.track_uuid] = packet
            return
        begin = begun.pop(event.track_uuid)
        notes = {note.name: note for note in begin.track_event.debug_annotations}
        victim, culprit = (number_in(notes[key].string_value) for key in ("victim", "culprit"))
        seen.decisions.append((
            packet.timestamp, int(words[1]), victim, culprit, packet.timestamp - begin.timestamp,
            notes["refund_ns"].uint_value, notes["bill_ns"].uint_value))


def number_in(name):
    """The task of `NAME (TASK)`, or nobody."""
    return 0 if name == "nobody" else int(name[name.rindex("(") + 1:-1])


def trace_cmd(*arguments):
    """The lines of a report without plug-ins, which print some events their own way."""
    done = subprocess.run(
        ["trace-cmd", "report", *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        raise BadInput(f"trace-cmd report: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace").splitlines()


def of_report(lines):
    """What `trace-cmd report -t -N` prints, and its switches and wake-ups in their order."""
    seen, order = Seen(), []
    for line in lines:
        match = LINE.match(line)
        if match is None:
            continue
        cpu, event = int(match[1]), match[4]
        t = int(match[2]) * 10**9 + int(match[3])
        fields = FIELDS[event].match(match[5]) if event in FIELDS else None
        if event in FIELDS and fields is None:
            raise BadInput(f"trace-cmd: {line}")
        if event == "sched_switch":
            prev, following = int(fields[2]), int(fields[6])
            seen.switches[cpu].append((t, prev, LETTERS[fields[4]], following))
            seen.learn(prev, fields[1], int(fields[3]))
            seen.learn(following, fields[5], int(fields[7]))
            order.append((t, prev, LETTERS[fields[4]], following))
        elif event == "sched_waking":
            seen.wakes.append((t, int(fields[2]), int(fields[4])))
            order.append((t, int(fields[2])))
        elif event == "license":
            seen.levels.append((t, int(fields[1]), int(fields[2])))
        elif event == "decision":
            seen.decisions.append((t, cpu, *map(int, fields.groups())))
    return seen, order


def intervals(order):
    """By task and kind: how many times, and how long, tasks were off a CPU or waited for one, as
    trace-cmd pairs events: a switch out with a wake-up or else with the switch in."""
    left, woken, sleeps = defaultdict(list), defaultdict(list), set()
    found = defaultdict(lambda: [0, 0])

    def end(starts, task, t):
        if starts[task]:
            since, kind = starts[task].pop()
            found[task, kind][0] += 1
            found[task, kind][1] += t - since

    for t, *event in order:
        if len(event) == 1:
            (task,) = event
            if task in sleeps:
                sleeps.remove(task)
                end(left, task, t)
                woken[task].append((t, f"sched_wakeup:{task:#x}"))
            continue
        prev, state, following = event
        left[prev].append((t, f"sched_switch:{letter(state)}"))
        (sleeps.add if state else sleeps.discard)(prev)
        end(woken, following, t)
        end(left, following, t)
    # The profile prints no sum of 0, and mixes the idle tasks of all CPUs up.
    return {key: tuple(value) for key, value in found.items() if key[0] != 0 and value[1] > 0}


def letter(state):
    return next(letter for letter, bits in LETTERS.items() if bits == state)


def of_profile(lines):
    """What `trace-cmd report --profile` prints of the same intervals."""
    found, task = {}, None
    for line in lines:
        if line.startswith("task: "):
            task = int(line[line.rindex("-") + 1:])
        match = PROFILED.match(line)
        if match is not None and task != 0:
            found[task, match[1]] = (int(match[2]), int(match[3]))
    return found


def judge(path):
    """Everything that does not agree about one history, in words."""
    header, records = history.parse(history.read_text(path), str(path))
    end_ns = header["end_ns"]
    trace = path.with_suffix(".pftrace")
    for words in of_history(header, records, 63).differences(of_perfetto(read(trace)), end_ns):
        yield f"{trace}: {words}"
    trace = path.with_suffix(".dat")
    seen, order = of_report(trace_cmd("-t", "-N", "-i", str(trace)))
    for words in of_history(header, records, 15).differences(seen, end_ns):
        yield f"{trace}: {words}"
    raw = sum(": sched_switch: " in line for line in trace_cmd("-R", "-i", str(trace)))
    count = sum(map(len, seen.switches.values()))
    if raw != count:
        yield f"{trace}: {count} switches, raw {raw}"
    ours, theirs = intervals(order), of_profile(trace_cmd("--profile", "-i", str(trace)))
    if ours != theirs:
        yield f"{trace}: profile: {first_difference(ours, theirs)}"


def read(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("history", nargs="+", type=Path, metavar="FILE.ektrace")
    args = parser.parse_args(arguments)
    wrong = 0
    try:
        for path in args.history:
            for words in judge(path):
                print(words)
                wrong += 1
    except BadInput as error:
        print(f"exports: {error}", file=sys.stderr)
        return 2
    print(f"{len(args.history)} histories, {wrong} disagreements")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
