"""Compares what a simulator states with what its history comes to."""

import compensation
from model import DOUBLES

EXACT_TASK = ("application", "cpu_time_ns", "slices", "migrations", "completion_ns")


def totals(replay):
    """What the whole machine did."""
    busy = sum(task.cpu_time_ns for task in replay.tasks.values())
    span = replay.end_ns - replay.start_ns
    return {
        "simulated_ns": span,
        "busy_ns": busy,
        "idle_ns": replay.cpus * span - busy,
        "level_ns": [sum(levels) for levels in zip(*(core.level_ns for core in replay.cores))],
        "throttled_ns": replay.throttled_ns,
        "switches": replay.switches,
        "migrations": sum(task.migrations for task in replay.tasks.values()),
    }


def task_result(task, cpu):
    """What one task got, and the bounds within which a right simulator states it (README)."""
    completion = None if task.ended_ns is None else task.ended_ns - (task.began_ns or 0)
    work = task.work_bounds(cpu)
    return {
        "tid": task.tid,
        "application": task.app,
        "cpu_time_ns": task.cpu_time_ns,
        "slices": task.slices,
        "migrations": task.migrations,
        "completion_ns": completion,
        "ref_cycles": work.done,
        "ref_cycles_min": work.at_least,
        "ref_cycles_max": work.at_most,
        "ref_cycles_before_min": task.before.at_least,
        "ref_cycles_before_max": task.before.at_most,
        "overhead_ns": task.overhead_done_ns,
        "lost_ns": task.lost_ns,
        "lost_ns_width": task.lost_error_ns + task.losing_pieces + 1,
    }


def loss_results(losses):
    """Who lost how much to whom, and the bound on both sides (README)."""
    return [
        {
            "victim": victim,
            "culprit": culprit,
            "lost_ns": lost_ns,
            "lost_ns_width": losses.error_ns[victim, culprit] + DOUBLES * lost_ns + 1,
        }
        for (victim, culprit), lost_ns in sorted(losses.lost_ns.items())
    ]


def compare(replay, outcome):
    """Disagreements, as (kind, words)."""
    ours = totals(replay)
    for key in sorted(ours.keys() & outcome.keys()):
        stated = outcome[key]
        if key == "level_ns":
            stated = trimmed(stated, len(ours[key]))
        if stated != ours[key]:
            yield key, f"stated {stated}, by the history {ours[key]}"
    for key in sorted(ours.keys() - outcome.keys()):
        yield key, "the outcome does not state it"
    stated_tasks = {task["tid"]: task for task in outcome["tasks"]}
    for tid in sorted(stated_tasks.keys() ^ replay.tasks.keys()):
        yield "tasks", f"task {tid} is not in both history and outcome"
    for tid in sorted(stated_tasks.keys() & replay.tasks.keys()):
        result = task_result(replay.tasks[tid], replay.cpu)
        yield from compare_task(result, stated_tasks[tid])
    yield from compare_losses(replay.losses, outcome["losses"])
    yield from compensation.invariants(outcome)
    yield from compensation.banked(replay.run.scheduler, replay.tasks, outcome)
    yield from replay.compensation.compare_decisions(outcome)
    if replay.sensors is not None:
        yield from replay.compensation.compare(outcome)


def compare_task(ours, stated):
    who = f"task {ours['tid']}"
    for key in EXACT_TASK:
        if stated[key] != ours[key]:
            yield key, f"{who}: stated {stated[key]}, by the history {ours[key]}"
    for key in ("ref_cycles", "ref_cycles_before"):
        low, high = ours[f"{key}_min"], ours[f"{key}_max"]
        if not low <= stated[key] <= high:
            yield key, f"{who}: stated {stated[key]}, not in {low:.0f}..{high:.0f}"
    if abs(stated["lost_ns"] - ours["lost_ns"]) > ours["lost_ns_width"]:
        lost, width = ours["lost_ns"], ours["lost_ns_width"]
        yield "lost_ns", f"{who}: stated {stated['lost_ns']}, not {lost:.0f} +- {width:.0f}"


def compare_losses(losses, stated_losses):
    stated = compensation.by_pair(stated_losses, "lost_ns")
    ours = {(loss["victim"], loss["culprit"]): loss for loss in loss_results(losses)}
    for victim, culprit in sorted(stated.keys() | ours.keys()):
        there = stated[victim, culprit]
        nothing = {"lost_ns": 0.0, "lost_ns_width": 0.0}
        loss = ours.get((victim, culprit), nothing)
        lost, width = loss["lost_ns"], loss["lost_ns_width"]
        if abs(there - lost) > width:
            words = f"{victim} to {culprit}: stated {there}, not {lost:.0f} +- {width:.0f}"
            yield "losses", words


def trimmed(levels, count):
    """Without the zeros of levels that the CPU does not have."""
    return levels[:count] if not any(levels[count:]) else levels
