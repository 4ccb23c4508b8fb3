//! Recording this machine. Needs root and a kernel with BTF, and reports a skip without them.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Folder, Ran, recording, skipped};

/// How long something may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The numbers of a history, which is refused unless it is sound.
fn info(folder: &Folder, file: &str) -> Value {
    serde_json::from_str(&folder.succeed(&["trace", "info", file, "--json", "-"])).unwrap()
}

fn task<'i>(info: &'i Value, name: &str) -> Option<&'i Value> {
    info["tasks"].as_array().unwrap().iter().find(|task| task["comm"] == name)
}

/// A recorder whose command has printed a line, and that line.
fn started(folder: &Folder, script: &str) -> (Child, String) {
    let args = ["trace", "record", "-o", "r.ektrace", "--", "sh", "-c", script];
    let mut recorder =
        folder.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(recorder.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (recorder, line.trim().to_owned())
}

fn signal(process: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Whether a process runs in the folder: the command, or a child of the command.
fn somebody_is_in(folder: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let places = processes.filter_map(|entry| std::fs::read_link(entry.path().join("cwd")).ok());
    places.into_iter().any(|place| place == folder)
}

#[track_caller]
fn nobody_stays(folder: &Folder) {
    let place = folder.path("").canonicalize().unwrap();
    let begin = Instant::now();
    while somebody_is_in(&place) {
        assert!(begin.elapsed() < PATIENCE, "somebody is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_command_is_recorded_and_its_exit_code_given_on() {
    let Some(folder) = recording() else { return };
    let script = "sleep 0.1; true | cat; exit 3";
    let Ran { code, stderr, .. } =
        folder.run(&["trace", "record", "-o", "r.ektrace", "--", "sh", "-c", script]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("the command ended with exit code 3"), "{stderr}");
    let info = info(&folder, "r.ektrace");
    let sleep = task(&info, "sleep").unwrap_or_else(|| panic!("{info}"));
    assert!(sleep["slices"].as_u64() >= Some(1) && sleep["marks"].as_u64() >= Some(1), "{sleep}");
    assert!(info["interrupts_known"] == true, "the probe finds the preempt count here");
    let runtime = info["runtime_ns"].as_u64().unwrap();
    assert!(runtime > 0 && runtime <= info["slices_ns"].as_u64().unwrap(), "{info}");
    let marks = folder.succeed(&["trace", "marks", "r.ektrace", "--top", "1000"]);
    assert!(marks.lines().any(|line| line.starts_with("cat ")), "{marks}");
}

#[test]
fn a_thread_is_of_its_process_even_if_the_leader_never_runs() {
    let Some(folder) = recording() else { return };
    let leader = std::fs::read_to_string(format!("/proc/{}/comm", std::process::id())).unwrap();
    let (ended, wait) = std::sync::mpsc::channel::<()>();
    let work = move || while wait.recv_timeout(Duration::from_millis(5)).is_err() {};
    let worker = std::thread::Builder::new().name("ek-worker".to_owned()).spawn(work).unwrap();
    folder.run(&["trace", "record", "-o", "r.ektrace", "--", "sleep", "0.1"]);
    ended.send(()).unwrap();
    worker.join().unwrap();
    let info = info(&folder, "r.ektrace");
    let worker = task(&info, "ek-worker").unwrap_or_else(|| panic!("{info}"));
    assert_eq!(worker["app"].as_str(), Some(leader.trim()));
}

#[test]
fn no_address_is_in_the_file() {
    let Some(folder) = recording() else { return };
    folder.run(&["trace", "record", "-o", "r.ektrace", "--", "ls", "/"]);
    let packed = std::fs::read(folder.path("r.ektrace")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|it| it.parse::<u64>().ok());
    // Addresses of the kernel are in the upper half, those of programs above 4 GiB; ids, sizes of
    // registers and times of a machine that runs for less than a year are neither.
    const YEAR_NS: u64 = 365 * 24 * 3600 * 1_000_000_000;
    assert_eq!(numbers.filter(|&number| number > YEAR_NS).max(), None);
    assert!(!text.contains("0x") && !text.contains("ffff"), "no hexadecimal number either");
}

#[test]
fn a_command_that_cannot_run_leaves_no_file() {
    let Some(folder) = recording() else { return };
    let Ran { code, stderr, .. } =
        folder.run(&["trace", "record", "-o", "r.ektrace", "--", "./nothing"]);
    assert_eq!(code, 2);
    assert_eq!(stderr, "evenkeel: cannot run ./nothing: No such file or directory (os error 2)\n");
    assert!(folder.files().is_empty(), "{:?}", folder.files().keys());
}

#[test]
fn the_command_needs_no_dashes_and_gets_its_own_signals() {
    let Some(folder) = recording() else { return };
    let args = ["trace", "record", "-o", "r.ektrace", "--duration", "20"];
    let ran = folder.run(&[&args[..], &["timeout", "0.1", "sleep", "1000"]].concat());
    assert_eq!(ran.code, 124, "{}", ran.stderr);
}

#[test]
fn the_duration_ends_the_recording_and_the_command() {
    let Some(folder) = recording() else { return };
    let args = ["trace", "record", "-o", "r.ektrace", "--duration", "0.3"];
    let Ran { code, stderr, .. } = folder.run(&[&args[..], &["--", "sleep", "1000"]].concat());
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("the command was ended with the recording"), "{stderr}");
    let wall = info(&folder, "r.ektrace")["wall_ns"].as_u64().unwrap();
    assert!(wall >= 300_000_000 && wall < PATIENCE.as_nanos() as u64, "{wall}");
    nobody_stays(&folder);
    let Ran { code, .. } = folder.run(&[&args[..], &["-a"]].concat());
    assert_eq!(code, 0);
}

#[test]
fn signals_end_the_recording_and_keep_what_was_recorded() {
    for name in ["-INT", "-TERM"] {
        let Some(folder) = recording() else { return };
        let (recorder, line) = started(&folder, "echo up; sleep 1000 & wait");
        assert_eq!(line, "up");
        signal(&recorder, name);
        let output = recorder.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(task(&info(&folder, "r.ektrace"), "sh").is_some());
        nobody_stays(&folder);
    }
}

#[test]
fn a_killed_recorder_leaves_no_workload_and_no_file_of_that_name() {
    let Some(folder) = recording() else { return };
    // The second shell has left its session and does not heed SIGTERM.
    let script = "setsid sh -c 'trap \"\" TERM; echo up; sleep 1000; sleep 1000' & sleep 1000";
    let (mut recorder, line) = started(&folder, script);
    assert_eq!(line, "up");
    signal(&recorder, "-KILL");
    recorder.wait().unwrap();
    nobody_stays(&folder);
    assert!(!folder.path("r.ektrace").exists());
}

#[test]
fn a_full_disk_ends_the_recording_with_what_fits() {
    let Some(folder) = recording() else { return };
    let script = "mount -t tmpfs -o size=2400k none disk && \"$0\" trace record -o disk/r.ektrace \
                  -- sh -c 'while :; do /bin/true; done' && cp disk/r.ektrace .";
    std::fs::create_dir(folder.path("disk")).unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_evenkeel")])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("the disk is full: it ends with what fits"), "{said}");
    assert!(task(&info(&folder, "r.ektrace"), "true").is_some());
    nobody_stays(&folder);
}

#[test]
fn a_disk_without_room_for_a_recording_is_an_error_that_names_the_file() {
    let Some(folder) = recording() else { return };
    let script = "mount -t tmpfs -o size=64k none disk && \"$0\" trace record -o disk/r.ektrace \
                  -- true; echo $?; ls -A disk";
    std::fs::create_dir(folder.path("disk")).unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_evenkeel")])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let expected = "evenkeel: writing disk/r.ektrace: keeping 2 MiB for the end of the recording: \
                    No space left on device (os error 28)\n";
    assert_eq!(said, expected);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
}

#[test]
fn marked_functions_are_phases_of_who_calls_them() {
    let Some(folder) = recording() else { return };
    let mark = |mark: &str| {
        folder.run(&["trace", "record", "-o", "r.ektrace", "--uprobe", mark, "--", "ls", "/"])
    };
    for functions in ["opendir,closedir", "opendir"] {
        let Ran { code, stderr, .. } = mark(&format!("libc.so.6:{functions}=avx2-heavy"));
        assert_eq!(code, 0, "{stderr}");
        let info = info(&folder, "r.ektrace");
        assert_eq!(task(&info, "ls").unwrap()["has_class"], true, "{functions}");
    }
    let Ran { code, stderr, .. } = mark("libc.so.6:no_such_function");
    assert_eq!(code, 2);
    assert!(stderr.contains("cannot probe no_such_function of libc.so.6"), "{stderr}");
}

#[test]
fn without_rights_the_error_has_the_remedy() {
    let Some(folder) = recording() else { return };
    std::fs::set_permissions(folder.path(""), PermissionsExt::from_mode(0o777)).unwrap();
    // The folder of the build may be unreadable for other users.
    let command = Folder::new();
    std::fs::set_permissions(command.path(""), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_evenkeel"), command.path("evenkeel")).unwrap();
    const NOBODY: u32 = 65534;
    let run = Command::new(command.path("evenkeel"))
        .args(["trace", "record", "-a"])
        .current_dir(folder.path(""))
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    let Ok(output) = run else { return skipped("only root may become somebody else") };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("sudo setcap cap_bpf,cap_perfmon+ep"), "{said}");
    assert!(folder.files().is_empty());
}

#[test]
fn scrubbing_takes_names_and_the_command_and_keeps_how_good_the_recording_is() {
    let Some(folder) = recording() else { return };
    folder.run(&["trace", "record", "-o", "r.ektrace", "--", "sh", "-c", "sleep 0.01 # secret"]);
    let scrub = ["trace", "scrub", "r.ektrace", "-o", "s.ektrace", "--keep", "sleep"];
    folder.succeed(&scrub);
    let packed = std::fs::read(folder.path("s.ektrace")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    assert!(!text.contains("secret") && !text.contains("\"sh\""), "{text}");
    assert!(text.contains("\"sleep\"") && text.contains("\"scheduler\""));
    assert!(info(&folder, "s.ektrace")["interrupts_known"] == true);
}
