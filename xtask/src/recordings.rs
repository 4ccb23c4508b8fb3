//! `cargo xtask recordings`: makes the recordings that scheduler models are judged by.
//!
//! The seen ones are there to find mistakes in the models. The unseen ones are made and judged
//! once, in the end (docs/decisions/0010). Needs root, perf and the recorded programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::command;

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Which half.
    #[arg(value_enum)]
    half: Half,
    /// Folder to write NAME.ektrace to; it must not be in the way of anything.
    folder: PathBuf,
    /// Makes only the recording of this name.
    #[arg(long)]
    only: Option<String>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Half {
    /// For mending the models.
    Seen,
    /// To be opened once.
    Unseen,
}

/// What runs during a recording, as a shell's program in a folder of its own.
struct Work {
    name: &'static str,
    /// Before the recording.
    prepare: &'static str,
    /// During the recording.
    run: &'static str,
}

/// Interrupts, so that it is known who woke whom.
const EVENTS: &str = "irq:*_entry,irq:*_exit,irq_vectors:local_timer_*,sched:sched_process_exec";
const FIELDS: &str = "comm,pid,tid,cpu,time,event,trace";
/// Whether each session is a group of its own, which the models do not know.
const AUTOGROUP: &str = "/proc/sys/kernel/sched_autogroup_enabled";

const SEEN: [Work; 5] = [
    // Nothing but hogs, of three nice levels.
    Work {
        name: "hogs",
        prepare: "",
        run: "for nice in 0 0 0 5 10; do \
              nice -n $nice timeout 12 openssl speed -seconds 12 sha256 & done; wait",
    },
    // Two that wake each other all the time, beside a hog.
    Work {
        name: "pipe",
        prepare: "",
        run: "timeout 5 openssl speed -seconds 5 sha256 & timeout 5 perf bench sched pipe; wait",
    },
    // Many short processes.
    Work {
        name: "make",
        prepare: "for n in $(seq 60); do { echo '#include <stdio.h>'; \
                  for f in $(seq 60); do echo \"int f${n}_$f(int a, int b) { int s = $f; \
                  for (int i = 0; i < a; i++) { s += i * b; if (s % 7 == $n) \
                  printf(\\\"%d\\\", s); } return s; }\"; done; } > f$n.c; done; \
                  { echo 'all: $(patsubst %.c,%.o,$(wildcard *.c))'; echo '%.o: %.c'; \
                  printf '\\tgcc -O2 -c $< -o $@\\n'; } > Makefile",
        run: "make -j4",
    },
    // A pipeline beside two hogs.
    Work {
        name: "pipeline",
        prepare: "head -c 24000000 /dev/zero > zeros",
        run: "for i in 1 2; do timeout 10 openssl speed -seconds 10 aes-256-cbc & done; \
              openssl enc -aes-256-ctr -pass pass:x -pbkdf2 -in zeros | xz -2 -T1 | wc -c; wait",
    },
    // Timers and loads below one.
    Work {
        name: "timers",
        prepare: "",
        run: "stress-ng --cpu 3 --cpu-load 45 --cpu-load-slice 5 --timerfd 1 --timerfd-freq 500 \
              --timeout 12s",
    },
];

const UNSEEN: [Work; 4] = [
    Work {
        name: "x265",
        prepare: "openssl enc -aes-256-ctr -pass pass:x -pbkdf2 -in /dev/zero 2>/dev/null | \
                  head -c 60000000 > noise; ln -s noise noise.yuv",
        run: "timeout 14 x265 --input noise.yuv --input-res 640x360 --fps 30 -o out.hevc & \
              timeout 14 xz -6 -T1 -k -c noise > /dev/null; wait",
    },
    Work {
        name: "nginx",
        prepare: "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
                  -subj /CN=localhost -days 2; mkdir -p html; head -c 20000 /dev/urandom > \
                  html/index.html; echo \"daemon off; worker_processes 2; pid $PWD/pid; \
                  error_log $PWD/error.log; events {} http { access_log off; server { \
                  listen 127.0.0.1:18443 ssl; ssl_certificate $PWD/cert.pem; \
                  ssl_certificate_key $PWD/key.pem; root $PWD/html; } }\" > nginx.conf; \
                  chmod -R a+rX .",
        run: "nginx -c $PWD/nginx.conf & sleep 1; \
              for i in 1 2; do openssl s_time -connect 127.0.0.1:18443 -www /index.html -new \
              -time 11 & done; timeout 11 7z b -mmt1 100; kill $(cat pid); wait",
    },
    Work {
        name: "compile",
        prepare: "cargo new --quiet --lib job; cd job; \
                  { for n in $(seq 400); do echo \"pub fn f$n(a: &[u64]) -> Vec<String> { \
                  a.iter().map(|x| x.wrapping_mul($n)).filter(|x| x % 3 == 1)\
                  .map(|x| format!(\\\"{x:x}\\\")).collect() }\"; done; } > src/lib.rs; \
                  for n in 1 2 3; do cp -r . ../job$n; \
                  sed -i \"s/name = .*/name = \\\"job$n\\\"/\" ../job$n/Cargo.toml; done",
        run: "for n in 1 2 3; do (cd job$n && cargo build --quiet --release --offline) & done; \
              wait",
    },
    Work {
        name: "messages",
        prepare: "",
        run: "perf bench sched messaging -g 2 -l 400 & \
              nice -n 5 timeout 6 openssl speed -seconds 6 \
              sha256;               wait",
    },
];

/// Makes the recordings of a half.
pub fn run(args: &Args) -> Result<()> {
    let evenkeel = command::evenkeel()?;
    fs::create_dir_all(&args.folder).context("making the folder")?;
    let folder = args.folder.canonicalize()?;
    let works: &[Work] = match args.half {
        Half::Seen => &SEEN,
        Half::Unseen => &UNSEEN,
    };
    let wanted = |work: &&Work| args.only.as_deref().is_none_or(|only| only == work.name);
    ensure!(works.iter().any(|work| wanted(&work)), "no recording has that name");
    for work in works.iter().filter(wanted) {
        record(work, &folder, &evenkeel).with_context(|| format!("recording {}", work.name))?;
    }
    Ok(())
}

fn record(work: &Work, folder: &Path, evenkeel: &Path) -> Result<()> {
    let room = tempfile::tempdir()?;
    let shell = |program: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", program]).current_dir(room.path());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        shell
    };
    shell(work.prepare).status().context("preparing")?;
    let data = room.path().join("rec.data");
    let _flat = FlatScheduling::begin();
    let mut perf = Command::new("perf");
    perf.args(["sched", "record", "-k", "CLOCK_MONOTONIC", "-m", "8M", "-e", EVENTS]);
    // perf 6.1 cannot read what it notes about BPF programs that come and go.
    perf.args(["--no-bpf-event", "-o"]);
    perf.arg(&data).args(["--", "sh", "-c", work.run]).current_dir(room.path());
    // A compile job is to build in its own folder.
    perf.env_remove("CARGO_TARGET_DIR");
    // What the recorded programs return does not matter.
    perf.stdout(Stdio::null()).stderr(Stdio::null()).status().context("starting perf")?;
    let text = room.path().join("rec.txt");
    let mut script = Command::new("perf");
    script.args(["script", "--ns", "--show-lost-events", "-F", FIELDS, "-i"]).arg(&data);
    let script = script.stdout(fs::File::create(&text)?).stderr(Stdio::null());
    ensure!(script.status()?.success(), "perf script failed");
    let output = folder.join(work.name).with_extension("ektrace");
    println!("{}", work.name);
    command::run(Command::new(evenkeel).args(["trace", "import"]).arg(&text).arg("-o").arg(output))
}

/// Without groups of sessions while it lives, where the kernel has them.
struct FlatScheduling {
    before: Option<String>,
}

impl FlatScheduling {
    fn begin() -> Self {
        let before = fs::read_to_string(AUTOGROUP).ok();
        // Without root the recording is as the machine schedules; perf says what it needs.
        let _ = fs::write(AUTOGROUP, "0");
        Self { before }
    }
}

impl Drop for FlatScheduling {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = fs::write(AUTOGROUP, before);
        }
    }
}
