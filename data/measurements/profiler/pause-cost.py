#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What do pauses cost the programs that run, and how long are they?

pause-cost.py PAUSE_COST FOLDER PAIRS RATE NAME...: each pair of runs of a workload has one with
pauses and one without, in an order drawn anew, one right after the other. PAUSE_COST is the built
example of the room `sensors`. Writes FOLDER/pause-cost.csv (one row a run) and, beside it,
pause-cost-looks.csv (one row a sample), both appended to. Names are those of workloads: `x265`,
`barrier`, `nginx`, `idle`.

    cargo build --release -p sensors --example pause_cost
    sudo python3 pause-cost.py target/release/examples/pause_cost . 12 50 x265 barrier nginx

It takes x265, gcc, nginx, wrk and openssl, and two CPUs. The workloads run at the lowest real-time
priority and the pauses above, so that the machine's other load does not count: beside ordinary
tasks of others, a pause also decides which of the tasks runs next. These still get the 5 % that
the kernel keeps for them.
"""

import contextlib
import csv
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT, FRAMES = 640, 360, 60
RAISE_DELAY_US = 700
CPUS = ["0", "1"]
ROUNDS = 10_000
NGINX = """
daemon off; worker_processes 1; worker_cpu_affinity 10; pid {folder}/nginx.pid;
error_log {folder}/error.log; events {{ worker_connections 64; }}
http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
server {{ listen 127.0.0.1:8443 ssl; ssl_certificate {folder}/cert.pem;
ssl_certificate_key {folder}/key.pem; location / {{ root {folder}/www; }} }} }}
"""


def output(*line, **settings):
    """What a command prints; one that fails ends the script."""
    return subprocess.run(line, check=True, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **settings).stdout


def prepare(folder):
    """The inputs and programs, the same in every run."""
    draw = random.Random(1)
    with open(f"{folder}/video.y4m", "wb") as video:
        video.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F30:1 Ip C420jpeg\n".encode())
        for frame in range(FRAMES):
            row = bytes((x * 3 + frame * 5) & 255 for x in range(WIDTH + 64))
            rows = [row[(y + frame) % 64:][:WIDTH] for y in range(HEIGHT)]
            video.write(b"FRAME\n" + b"".join(rows) + draw.randbytes(WIDTH * HEIGHT // 2))
    output("gcc", "-O2", "-fopenmp", HERE / "pause-cost-barrier.c", "-o", f"{folder}/barrier")
    output("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
           "/CN=localhost", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem")
    os.mkdir(f"{folder}/www")
    pathlib.Path(f"{folder}/www/file").write_bytes(draw.randbytes(64 * 1024))
    pathlib.Path(f"{folder}/nginx.conf").write_text(NGINX.format(folder=folder), encoding="ascii")
    os.chmod(folder, 0o755)


@contextlib.contextmanager
def server(folder):
    """A web server."""
    with subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf"], stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        time.sleep(0.5)
        try:
            yield
        finally:
            process.terminate()


def x265(folder):
    """Seconds of an encoding."""
    start = time.monotonic()
    output("x265", "--preset", "faster", "--pools", "2", "--input", f"{folder}/video.y4m", "-o",
           f"{folder}/video.hevc")
    return time.monotonic() - start


def barrier(folder):
    """Seconds of a fixed number of barriers between two threads."""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "true"}
    return float(output(f"{folder}/barrier", str(ROUNDS), env=environment))


def nginx(_folder):
    """Seconds of 10,000 requests of 64 KiB over TLS, the server and the client on a CPU each."""
    text = output("taskset", "-c", "0", "wrk", "-t", "1", "-c", "8", "-d", "2",
                  "https://127.0.0.1:8443/file")
    assert "Non-2xx" not in text, text
    return 10_000 / float(re.search(r"Requests/sec: *([0-9.]+)", text)[1])


def idle(_folder):
    """Seconds of nothing: for looks at a clock that no workload changes."""
    time.sleep(4)
    return 4.0


@contextlib.contextmanager
def pauses(program, rate, samples):
    """Samples for as long as the workload runs; they are added to a list."""
    line = [program, "600", str(rate), str(RAISE_DELAY_US), *CPUS]
    with tempfile.TemporaryFile("w+", encoding="ascii") as file:
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=file) as process:
            time.sleep(0.5)
            for thread in os.listdir(f"/proc/{process.pid}/task"):
                os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(2))
            try:
                yield
            finally:
                process.stdin.close()
        file.seek(0)
        samples += list(csv.DictReader(file))


def append(path, rows):
    """Adds rows to a file; a new one gets a header."""
    is_new = not path.exists()
    with open(path, "a", newline="", encoding="ascii") as file:
        writer = csv.DictWriter(file, rows[0])
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


def pair(program, rate, folder, workload, number, into):
    """Two runs, one with pauses."""
    order = [False, True]
    random.shuffle(order)
    for place, paused in enumerate(order):
        samples = []
        before = os.getloadavg()[0]
        with pauses(program, rate, samples) if paused else contextlib.nullcontext():
            seconds = workload(folder)
        append(into / "pause-cost.csv", [{
            "workload": workload.__name__, "pair": number, "place": place,
            "samples_a_second": rate if paused else 0, "seconds": round(seconds, 6),
            "samples": len(samples), "load": before}])
        rows = [{"workload": workload.__name__, "samples_a_second": rate} | it for it in samples]
        if rows:
            append(into / "pause-cost-looks.csv", rows)


def main():
    """Runs all pairs."""
    program, into, pairs, rate, *names = sys.argv[1:]
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    workloads = [it for it in (x265, barrier, nginx, idle) if it.__name__ in names]
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        with server(folder):
            for number in range(int(pairs)):
                for workload in workloads:
                    pair(program, float(rate), folder, workload, number, pathlib.Path(into))


if __name__ == "__main__":
    main()
