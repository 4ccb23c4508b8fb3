"""What a history file says: its header and its records, in order."""

import json
import subprocess

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SCHEMA = 5

FIELDS = {
    "switch": {"cpu": int, "prev": int, "state": str, "next": int},
    "wake": {"task": int, "by": int, "cpu": int},
    "fork": {"task": int, "by": int},
    "migrate": {"task": int, "from": int, "to": int},
    "phase": {"task": int, "class": str, "rate_permille": int, "stall_permille": int},
    "overhead": {"cpu": int, "ns": int},
    "license": {"core": int, "level": int, "rate_permille": int},
    "frequency": {"core": int, "khz": int},
    "registers": {"task": int, "xfeatures": int},
    "stack": {"task": int, "stack": int},
    "pause": {
        "cpu": int, "by": int, "first_ns": int, "alone_ns": int, "first_khz": int,
        "last_khz": int, "alone_khz": int,
        "paused_ns": int,
    },
    "counters": {
        "cpu": int, "cycles": int, "ref_cycles": int, "license_1": int, "license_2": int,
        "throttled": int, "stalled": int, "fp_256": int, "fp_512": int,
    },
    "runtime": {"task": int, "ns": int},
    "decision": {
        "cpu": int, "victim": int, "culprit": int,
        "slice_ns": int, "refund_ns": int, "bill_ns": int,
    },
}


class BadInput(Exception):
    """A file that cannot be judged; says where and why."""


def read_text(path):
    """The text of a file, decompressed by the `zstd` command where needed."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(ZSTD_MAGIC):
            done = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=False)
            if done.returncode != 0:
                raise BadInput(f"{path}: zstd: {done.stderr.decode(errors='replace').strip()}")
            data = done.stdout
        return data.decode()
    except FileNotFoundError as error:
        raise BadInput(f"{error.filename}: not found") from error
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}") from error


def parse(text, name="history"):
    """The header, with its tasks, and the list of records of an `.ektrace` file's text."""
    lines = text.splitlines()
    first = parse_line(lines[0], name, 1) if lines else {}
    schema = first.get("ektrace", {}).get("schema")
    if not is_count(schema) or not 1 <= schema <= SCHEMA:
        raise BadInput(f"{name}:1: schema {schema!r}, this checker reads 1 to {SCHEMA}")
    tasks, records = [], []
    for number, line in enumerate(lines[1:], start=2):
        value = parse_line(line, name, number)
        if "end" in value:
            if number != len(lines) or value.get("records") != len(records):
                raise BadInput(f"{name}:{number}: the end of another history")
            header = {**value["end"], "schema": schema, "tasks": tasks}
            check_header(header, f"{name}:{number}")
            return header, records
        if "task" in value and "t" not in value:
            tasks.append(value["task"])
        elif "stack" in value and "t" not in value:
            continue  # The functions of a stack decide nothing that is checked.
        else:
            check_record(value, f"{name}:{number}")
            records.append(value)
    raise BadInput(f"{name}: cut off after line {len(lines)}")


def parse_line(line, name, number):
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"{name}:{number}: not JSON: {error.msg}") from error
    if not isinstance(value, dict):
        raise BadInput(f"{name}:{number}: expected an object")
    return value


def check_header(header, place):
    if header.get("source") != "simulated":
        raise BadInput(f"{place}: only histories of simulated runs can be checked")
    for key in ("cpus", "threads_per_core", "cores_per_package", "start_ns", "end_ns"):
        if not is_count(header.get(key)):
            raise BadInput(f"{place}: {key}: expected a number")
    if min(header[key] for key in ("cpus", "threads_per_core", "cores_per_package")) == 0:
        raise BadInput(f"{place}: a machine without CPUs")
    if header["cpus"] % (header["threads_per_core"] * header["cores_per_package"]) != 0:
        raise BadInput(f"{place}: cpus: not a whole number of packages")
    if header["end_ns"] < header["start_ns"]:
        raise BadInput(f"{place}: the end is before the start")
    for task in header["tasks"]:
        if not isinstance(task, dict) or not is_count(task.get("tid")):
            raise BadInput(f"{place}: tasks: expected objects with a tid")
        if not isinstance(task.get("app"), str):
            raise BadInput(f"{place}: tasks: task {task['tid']} has no app")


def check_record(record, place):
    if not is_count(record.get("t")):
        raise BadInput(f"{place}: t: expected a time")
    fields = FIELDS.get(record.get("e"))
    if fields is None:
        raise BadInput(f"{place}: unknown event {record.get('e')!r}")
    for key, kind in fields.items():
        value = record.get(key)
        good = is_count(value) if kind is int else isinstance(value, str)
        if not good:
            raise BadInput(f"{place}: {key}: {value!r} is no {kind.__name__}")


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
