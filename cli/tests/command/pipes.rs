//! Readers that go away, devices, and files that exist already.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::harness::{Folder, recorded};

/// Runs with a standard output whose reader is gone before the first byte; exit code and errors.
fn without_reader(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = folder.command(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let folder = recorded();
    for args in [
        &["--help"][..],
        &["cpu", "list"],
        &["cpu", "show", "xeon-gold-6130"],
        &["compare", "--list"],
        &["compare", "light512", "--replicates", "1"],
        &["compare", "light512", "--replicates", "1", "--json", "-"],
        &["simulate", "light512"],
        &["simulate", "light512", "-o", "-"],
        &["trace", "info", "rec.ektrace"],
        &["trace", "export", "rec.ektrace", "--format", "ftrace", "-o", "-"],
        &["trace", "export", "rec.ektrace", "--format", "perfetto", "-o", "-"],
        &["trace", "scrub", "rec.ektrace", "-o", "-"],
    ] {
        assert_eq!(without_reader(&folder, args), (Some(0), String::new()), "{args:?}");
    }
}

#[test]
fn a_reader_may_stop_after_the_first_line() {
    let folder = recorded();
    let args = ["trace", "export", "rec.ektrace", "--format", "ftrace", "-o", "-"];
    let mut child =
        folder.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(0), ""));
    assert_eq!(line, "# tracer: nop\n");
}

#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Folder::new().command(&["cpu", "list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("evenkeel: writing to standard output: No space left"), "{said}");
}

#[test]
fn a_pipe_is_written_into_and_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let reading = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap())
    };
    let flags = ["--replicates", "1", "--scheduler", "fair", "--csv", "pipe"];
    folder.succeed(&[&["compare", "light512"], &flags[..]].concat());
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert!(reading.join().unwrap().starts_with("scheduler,background,"));
}

#[test]
fn a_missing_folder_is_made_and_an_old_file_replaced() {
    let folder = Folder::new();
    let args = ["simulate", "light512", "--json", "new/deep/r.json"];
    folder.succeed(&args);
    let first = folder.read("new/deep/r.json");
    folder.write("new/deep/r.json", "old ".repeat(100_000));
    folder.succeed(&args);
    assert_eq!(folder.read("new/deep/r.json"), first);
    assert_eq!(folder.files().len(), 1);
}
