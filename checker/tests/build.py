"""Tiny histories, written by hand."""

import copy
import json
import tomllib
from pathlib import Path

import check
import cpu_table

TABLES = Path(__file__).resolve().parents[2] / "cpu-model" / "tables"
US = 1000
RUN = {
    "smt_share_permille": 625, "turbo_cores": None, "turbo": True,
    "scheduler": "fair", "sensors": "d7", **{fault: 0 for fault in check.FAULTS},
    "renewals": [], "losses": [], "counted_from_ns": 0,
}


def table(name="xeon-gold-6130"):
    return tomllib.loads((TABLES / f"{name}.toml").read_text())


def header(end_ns, tasks, cpus=32, threads=2, package=16):
    return {
        "schema": 1,
        "source": "simulated",
        "cpus": cpus,
        "start_ns": 0,
        "end_ns": end_ns,
        "threads_per_core": threads,
        "cores_per_package": package,
        "tasks": [{"tid": tid, "comm": "t", "app": f"a{tid}"} for tid in range(1, tasks + 1)],
    }


def wake(t, task):
    return {"t": t, "e": "wake", "task": task, "by": 0, "cpu": 0}


def switch(t, cpu, prev, following, state="runnable"):
    return {"t": t, "e": "switch", "cpu": cpu, "prev": prev, "state": state, "next": following}


def phase(t, task, name="scalar", rate=0, stall=0):
    record = {"t": t, "e": "phase", "task": task, "class": name}
    return {**record, "rate_permille": rate, "stall_permille": stall}


def overhead(t, cpu, ns):
    return {"t": t, "e": "overhead", "cpu": cpu, "ns": ns}


def license(t, core, level, rate=1000):
    return {"t": t, "e": "license", "core": core, "level": level, "rate_permille": rate}


def frequency(t, core, mhz):
    return {"t": t, "e": "frequency", "core": core, "khz": mhz * 1000}


def starts(t, cpu, task, *phase_words):
    """A task is woken and comes to an idle CPU."""
    return [wake(t, task), switch(t, cpu, 0, task), phase(t, task, *phase_words)]


def heavy_rise_few(core=0):
    """An AVX-512 burst from time 0 while one or two cores are active."""
    return [
        license(0, core, 0, 250),
        frequency(0, core, 3700),
        license(30 * US, core, 0, 0),
        license(40 * US, core, 1, 500),
        frequency(40 * US, core, 3600),
        license(60 * US, core, 1, 0),
        license(70 * US, core, 2),
        frequency(70 * US, core, 3500),
    ]


def in_time(records):
    return sorted(records, key=lambda record: record["t"])


def text(head, records):
    """The text of an `.ektrace` file."""
    tasks = [{"task": task} for task in head["tasks"]]
    end = {"end": {**head, "tasks": []}, "records": len(records)}
    lines = [{"ektrace": {"schema": 1}}, *records, *tasks, end]
    return "".join(json.dumps(line) + "\n" for line in lines)


def judge(head, records, outcome=None, cpu=None):
    """What the checker finds: the result by task, the result, kinds of violations."""
    cpu = cpu_table.Cpu(cpu or table())
    result, violations = check.check(head, copy.deepcopy(records), cpu, outcome)
    tasks = {task["tid"]: task for task in result["tasks"]}
    return tasks, result, violations
