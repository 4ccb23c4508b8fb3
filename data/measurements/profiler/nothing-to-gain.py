"""Does `evenkeel profile --pauses` find nothing to gain where nothing is lost?

    sudo python3 nothing-to-gain.py target/release/evenkeel 100 > nothing-to-gain.csv

Runs the profiler again and again on a machine that is known not to be affected, beside two busy
programs: one of AVX2 code or of what the machine has (`openssl speed`), and one of scalar code that
begins processes. One row a run: what the profiler answered, and the largest overhead stated.
"""

import csv
import json
import subprocess
import sys

SECONDS = 10
RATE = 25
SHELL = "while :; do :; : | cat; done"


def profile(program):
    """The result of one profile."""
    command = [program, "profile", "-a", "--pauses", "--rate", str(RATE)]
    command += ["--duration", str(SECONDS), "--json", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    return json.loads(done.stdout)


def main():
    """Writes the rows."""
    program, runs = sys.argv[1], int(sys.argv[2])
    writer = csv.writer(sys.stdout)
    writer.writerow(
        ["run", "nothing_to_gain", "taken", "idle", "without", "paused_pct", "all_pct",
         "all_low_pct", "all_high_pct", "worst_program",
         "worst_samples", "worst_pct", "worst_low_pct", "worst_high_pct"]
    )
    for run in range(runs):
        loads = [
            subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for words in (["openssl", "speed", "-seconds", "60", "sha256"], ["sh", "-c", SHELL])
        ]
        try:
            found = profile(program)
        finally:
            for load in loads:
                load.kill()
                load.wait()
        samples = found["samples"]
        victims = [it for it in found["victims"] if it["basis"] == "measured"]
        no_overhead = dict.fromkeys(["value", "low", "high"], 0)
        none = {"name": "", "samples": 0, "overhead_pct": no_overhead}
        worst = max(victims, key=lambda it: it["overhead_pct"]["value"], default=none)
        overhead = worst["overhead_pct"]
        writer.writerow(
            [run, found["nothing_to_gain"], samples["taken"], samples["idle"],
             samples["switched"] + samples["held"], round(found["paused_pct"], 3),
             *(round(found["overhead_pct"][it], 3) for it in ("value", "low", "high")),
             worst["name"],
             worst["samples"], *(round(overhead[it], 3) for it in ("value", "low", "high"))]
        )
        sys.stdout.flush()


main()
