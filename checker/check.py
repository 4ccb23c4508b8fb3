#!/usr/bin/env python3
"""Recomputes a simulated run from its history and the CPU table alone.

Exit code 0: everything agrees; 1: something does not; 2: the input cannot be judged.
"""

import argparse
import json
import sys
from collections import Counter

import compare
import cpu_table
import history
from history import BadInput
from model import Run
from replay import Replay

SHOWN = 20


def main(arguments=None):
    args = parse_arguments(arguments)
    try:
        header, records = history.parse(history.read_text(args.history), args.history)
        cpu = cpu_table.parse(history.read_text(args.cpu), args.cpu)
        outcome = read_outcome(args.outcome)
        result, violations = check(header, records, cpu, outcome)
        if args.json is not None:
            write_json(args.json, {**result, "violations": violations})
    except BadInput as error:
        print(f"check: {error}", file=sys.stderr)
        return 2
    if args.json != "-":
        print_result(result, violations)
    return 1 if violations else 0


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("history", metavar="HISTORY", help="history of a simulated run")
    parser.add_argument("--cpu", required=True, metavar="TABLE.toml", help="its CPU table")
    parser.add_argument("--outcome", metavar="OUT.json", help="what the simulator states")
    parser.add_argument("--json", metavar="FILE", help="write the result there; - = stdout")
    return parser.parse_args(arguments)


def read_outcome(path):
    if path is None:
        return None
    try:
        outcome = json.loads(history.read_text(path))
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    if not isinstance(outcome, dict) or not isinstance(outcome.get("tasks"), list):
        raise BadInput(f"{path}: expected an object with tasks")
    return outcome


def check(header, records, cpu, outcome):
    """The recomputed result, and what does not agree with it."""
    run = Run() if outcome is None else run_of(outcome)
    replay = Replay(header, cpu, run)
    replay.play(records)
    violations = [
        {"kind": kind, "at_ns": time, "what": words} for time, kind, words in replay.violations
    ]
    if outcome is not None:
        try:
            found = list(compare.compare(replay, outcome))
        except (KeyError, TypeError) as error:
            raise BadInput(f"the outcome lacks or garbles {error}") from error
        violations += [{"kind": kind, "what": words} for kind, words in found]
    tasks = [compare.task_result(task, cpu) for task in replay.tasks.values()]
    cores = [{"level_ns": core.level_ns} for core in replay.cores]
    losses = compare.loss_results(replay.losses)
    result = {**compare.totals(replay), "tasks": tasks, "losses": losses, "cores": cores}
    return result, violations


# Faults that an outcome states of its sensors; 0 or false for exact sensors.
FAULTS = (
    "counter_noise_permille", "evex_strings", "lazy_binding", "table_error_permille",
    "stall_error_permille", "false_detections_permille", "deaf_cores_permille",
)


def run_of(outcome):
    try:
        return Run(
            smt_share_permille=outcome["smt_share_permille"],
            turbo_cores=outcome["turbo_cores"],
            turbo=outcome["turbo"],
            scheduler=outcome["scheduler"],
            sensors=outcome["sensors"],
            sensors_faulty=any([outcome[fault] for fault in FAULTS]),
            renewals=[renewal(one) for one in outcome["renewals"]],
            counted_from_ns=time(outcome["counted_from_ns"]),
        )
    except KeyError as error:
        raise BadInput(f"the outcome does not state {error.args[0]}") from error
    except TypeError as error:
        raise BadInput(f"the outcome garbles {error}") from error


def time(stated):
    if not history.is_count(stated):
        raise BadInput(f"the outcome's counted_from_ns: {stated} is no time")
    return stated


def renewal(stated):
    if not (history.is_count(stated["t"]) and history.is_count(stated["task"])):
        raise BadInput(f"the outcome's renewals: {stated} is no time and task")
    return {"t": stated["t"], "task": stated["task"]}


def write_json(path, value):
    text = json.dumps(value, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error


def print_result(result, violations):
    print(
        f"{len(result['tasks'])} tasks, {result['switches']} switches, "
        f"{result['simulated_ns'] / 1e9:.6f} s, {result['busy_ns'] / 1e9:.6f} s busy"
    )
    for violation in violations[:SHOWN]:
        at = f"{violation['at_ns']} ns: " if "at_ns" in violation else ""
        print(f"{violation['kind']}: {at}{violation['what']}")
    if not violations:
        print("agrees")
        return
    kinds = Counter(violation["kind"] for violation in violations)
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    print(f"{len(violations)} disagreements: {counts}")


if __name__ == "__main__":
    sys.exit(main())
