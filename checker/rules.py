"""What may happen to a task: only who was woken runs, on one CPU, until it leaves."""

from model import CLASSES, Phase


def apply(replay, record):
    """Carries out a scheduling event; whatever cannot be is said and then believed."""
    RULES[record["e"]](replay, record)


def known_task(replay, tid, record):
    task = replay.tasks.get(tid)
    if task is None:
        replay.complain("task", f"{record['e']}: task {tid} is not in the header")
    return task


def known_cpu(replay, cpu, record):
    if cpu >= replay.cpus:
        replay.complain("cpu", f"{record['e']}: there is no CPU {cpu}")
        return False
    return True


def switch(replay, record):
    cpu, prev, following, state = (record[key] for key in ("cpu", "prev", "next", "state"))
    if not known_cpu(replay, cpu, record):
        return
    if prev == following:
        replay.complain("switch", f"cpu {cpu}: from task {prev} to itself")
    if state not in ("runnable", "blocked", "dead"):
        replay.complain("switch", f"cpu {cpu}: unknown state {state!r}")
    there = replay.on(cpu)
    there_tid = 0 if there is None else there.tid
    if there_tid != prev:
        replay.complain("switch", f"cpu {cpu}: task {prev} leaves, but {there_tid} is there")
    if there is not None:
        replay.account(there)
    replay.put(cpu, None)
    if there is not None:
        there.state, there.cpu = state, None
        there.runnable_ns = replay.now
        if state == "dead":
            there.ended_ns = replay.now
        elif state == "blocked":
            there.has_slept = True
    if following != 0:
        arrive(replay, cpu, following, record)


def arrive(replay, cpu, tid, record):
    task = known_task(replay, tid, record)
    if task is None:
        return
    if task.cpu is not None:
        replay.complain("switch", f"cpu {cpu}: task {tid} still runs on cpu {task.cpu}")
        replay.put(task.cpu, None)
    elif task.state != "runnable":
        replay.complain("switch", f"cpu {cpu}: task {tid} comes, but it is {task.state}")
    if task.state == "runnable":
        task.waited_ns += replay.now - task.runnable_ns
    task.state, task.cpu = "running", cpu
    task.slices += 1
    task.steps += 1
    replay.switches += 1
    if task.last_cpu is not None and task.last_cpu != cpu:
        task.migrations += 1
    task.last_cpu = cpu
    replay.put(cpu, task)
    replay.uses_registers(task)


def wake(replay, record):
    task = known_task(replay, record["task"], record)
    if record["by"] != 0:
        known_task(replay, record["by"], record)
    if not known_cpu(replay, record["cpu"], record) or task is None:
        return
    if task.state not in ("new", "forked", "blocked"):
        replay.complain("wake", f"task {task.tid} is woken, but it is {task.state}")
        return
    if task.began_ns is None:
        task.began_ns = replay.now
    task.state, task.runnable_ns = "runnable", replay.now


def fork(replay, record):
    task = known_task(replay, record["task"], record)
    if task is None:
        return
    if task.state != "new":
        replay.complain("fork", f"task {task.tid} begins, but it is {task.state}")
        return
    task.state, task.began_ns = "forked", replay.now


def migrate(replay, record):
    task = known_task(replay, record["task"], record)
    if record["from"] == record["to"]:
        replay.complain("migrate", f"task {record['task']} moves from cpu {record['to']} to itself")
    for key in ("from", "to"):
        known_cpu(replay, record[key], record)
    if task is not None and task.cpu is not None:
        replay.complain("migrate", f"task {task.tid} moves while it runs on cpu {task.cpu}")


def phase(replay, record):
    task = known_task(replay, record["task"], record)
    if task is None:
        return
    if record["class"] not in CLASSES or record["stall_permille"] > 1000:
        replay.complain("phase", f"task {task.tid}: no such phase: {record}")
        return
    if task.state == "dead":
        replay.complain("phase", f"task {task.tid} is dead")
    if task.cpu is not None:
        replay.touch(task.cpu)
    task.phase = Phase(record["class"], record["rate_permille"], record["stall_permille"])
    task.steps += 1
    if task.cpu is not None:
        replay.uses_registers(task)


def overhead(replay, record):
    if not known_cpu(replay, record["cpu"], record):
        return
    task = replay.on(record["cpu"])
    if task is None:
        replay.complain("overhead", f"cpu {record['cpu']} has overhead, but no task")
        return
    replay.touch(record["cpu"])
    task.overhead_left += record["ns"]


def renewal(replay, record):
    """No event of histories: the outcome says that a slice ends and the task goes on."""
    task = known_task(replay, record["task"], record)
    # One that comes at this instant, or has just left, has no slice that could end.
    if task is not None and task.cpu is not None:
        replay.account(task)
        replay.uses_registers(task)


def decision(replay, record):
    victim = known_task(replay, record["victim"], record)
    if victim is None or not known_cpu(replay, record["cpu"], record):
        return
    if replay.on(record["cpu"]) is not victim or record["refund_ns"] > record["slice_ns"]:
        replay.complain("decision", f"task {victim.tid} ran no such slice: {record}")
    culprit = None
    if record["culprit"] != 0:
        culprit = known_task(replay, record["culprit"], record)
    replay.compensation.decide(victim, culprit, record)


def of_recordings(replay, record):
    replay.complain("event", f"{record['e']} does not belong in a simulated history")


RULES = {
    "switch": switch,
    "wake": wake,
    "fork": fork,
    "migrate": migrate,
    "phase": phase,
    "overhead": overhead,
    "renewal": renewal,
    "decision": decision,
    "registers": of_recordings,
    "stack": of_recordings,
    "pause": of_recordings,
    "counters": of_recordings,
    "runtime": of_recordings,
}
