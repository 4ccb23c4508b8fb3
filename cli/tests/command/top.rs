//! `evenkeel top` on this machine. Needs root and a kernel with BTF, and reports a skip without.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{OpenptyResult, Winsize, openpty};
use serde_json::Value;

use crate::harness::{Folder, skipped};

/// An empty folder, where this machine lets us collect.
fn collecting() -> Option<Folder> {
    let folder = Folder::new();
    let report: Value = serde_json::from_str(&folder.succeed(&["doctor", "--json", "-"])).unwrap();
    let record = &report["abilities"][0];
    assert_eq!(record["what"], "record schedules");
    if record["answer"] == "yes" {
        return Some(folder);
    }
    skipped(&format!("this machine cannot collect: {}", record["found"]));
    None
}

/// A process that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process of that name that never sleeps, on CPU 0.
fn busy(folder: &Folder, name: &str) -> Running {
    let path = folder.path(name);
    if !path.exists() {
        std::fs::copy("/bin/sh", &path).unwrap();
    }
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(path).args(["-c", "while :; do :; done"]);
    Running(command.spawn().unwrap())
}

#[test]
fn two_tasks_on_a_cpu_wait_for_each_other() {
    let Some(folder) = collecting() else { return };
    let (_one, _two) = (busy(&folder, "ek-one"), busy(&folder, "ek-two"));
    let line = folder.succeed(&["top", "--once", "--json", "-", "--interval", "2"]);
    assert_eq!(line.lines().count(), 1);
    let view: Value = serde_json::from_str(&line).unwrap();
    let pair = |victim: &str, culprit: &str| {
        let pairs = view["pairs"].as_array().unwrap().iter();
        let mut pairs = pairs.filter(|pair| pair["victim"] == victim && pair["culprit"] == culprit);
        pairs.next().map_or(0.0, |pair| pair["waited_ms_per_s"].as_f64().unwrap())
    };
    // Other tasks may use the CPU, too: how long these two wait is not known.
    let own = pair("ek-one", "ek-one");
    assert!(pair("ek-one", "ek-two") > own && pair("ek-two", "ek-one") > 0.0, "{line}");
    assert!(view["cpus"][0]["busy_pct"].as_f64() > Some(0.0), "{line}");
    assert_eq!(view["groups"][0]["slower_pct"].is_null(), view["cpu_table"].is_null());
}

#[test]
fn once_prints_text_with_clean_names() {
    let Some(folder) = collecting() else { return };
    let _hostile = busy(&folder, "ek\x1b[31m\n");
    let text = folder.succeed(&["top", "--once", "--interval", "1.5"]);
    assert!(text.starts_with("evenkeel top: "), "{text}");
    assert!(text.contains("ek\u{fffd}[31m\u{fffd}"), "{text}");
    assert!(!text.contains('\x1b'), "{text:?}");
}

#[test]
fn metrics_are_served_until_a_signal_ends_the_command() {
    let Some(folder) = collecting() else { return };
    let _busy = busy(&folder, "ek-\"quoted\\");
    let args = ["top", "--no-screen", "--prometheus", "127.0.0.1:0", "--interval", "0.2"];
    let mut top = Running(folder.command(&args).stderr(Stdio::piped()).spawn().unwrap());
    let mut said = String::new();
    BufReader::new(top.0.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let address = said.split("http://").nth(1).unwrap().split('/').next().unwrap();
    let scrape = || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let wanted = r#"evenkeel_cpu_seconds_total{group="ek-\"quoted\\"} "#;
    let mut text = scrape();
    while !text.contains(wanted) {
        std::thread::sleep(std::time::Duration::from_millis(50));
        text = scrape();
    }
    assert!(text.contains("# TYPE evenkeel_waited_seconds_total counter\n"), "{text}");
    assert!(Command::new("kill").arg(top.0.id().to_string()).status().unwrap().success());
    assert_eq!(top.0.wait().unwrap().code(), Some(0));
}

#[test]
fn mistakes_are_refused_in_a_sentence() {
    let folder = Folder::new();
    folder.refused(&["top", "--no-screen"], "--no-screen: say where the figures go");
    folder.refused(&["top", "--once", "--cpu", "nonsense"], "--cpu: ");
    let address = ["top", "--prometheus", "localhost"];
    folder.refused_flag(&address, &["--prometheus", "such as 127.0.0.1:9777"]);
    folder.refused_flag(&["top", "--interval", "0"], &["--interval", "expected 0.1s to 3600s"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let args = ["top", "--no-screen", "--prometheus", &address];
    folder.refused(&args, &format!("--prometheus {address}: cannot listen there: "));
}

/// A terminal window that is closed, or a connection that breaks, leaves no collector behind.
#[test]
fn a_screen_ends_with_its_terminal() {
    let Some(folder) = collecting() else { return };
    let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(Some(&size), None).unwrap();
    // Else the command itself would keep its terminal alive.
    fcntl(&master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
    let mut command = folder.command(&["top", "--interval", "0.2"]);
    let stdio = || Stdio::from(slave.try_clone().unwrap());
    command.stdin(stdio()).stdout(stdio()).stderr(stdio());
    let mut top = Running(command.spawn().unwrap());
    drop((command, slave));
    let mut screen = File::from(master);
    let mut drawn = 0;
    let mut part = [0; 4096];
    // More than it takes to set up the screen: a first interval has been drawn.
    while drawn < 400 {
        drawn += screen.read(&mut part).unwrap();
    }
    drop(screen);
    // It ends by itself: with an error where it was about to draw, but never by a panic.
    let code = top.0.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 2)), "{code:?}");
}
