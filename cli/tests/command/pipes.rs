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
        &["scenarios"],
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

/// Every verb that writes a file, without the file's name.
fn writers() -> [Vec<&'static str>; 11] {
    let compare = ["compare", "light512", "--replicates", "1", "--scheduler", "fair"];
    let with = |flag| [&compare[..], &[flag]].concat();
    let text =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/fixtures/x265_sse4_xz.perf-script.zst");
    let export = |form| vec!["trace", "export", "rec.ektrace", "--format", form, "-o"];
    [
        vec!["cpu", "list", "--json"],
        vec!["simulate", "light512", "-o"],
        vec!["simulate", "light512", "--json"],
        with("--json"),
        vec!["trace", "import", text, "-o"],
        export("perfetto"),
        export("ftrace"),
        export("trace-dat"),
        vec!["trace", "scrub", "rec.ektrace", "-o"],
        vec!["trace", "page", "rec.ektrace", "-o"],
        vec!["generate", "completions", "bash", "-o"],
    ]
}

/// The arguments with the file's name: joined to the last one where that ends with `=`.
fn to(args: &[&str], file: &str) -> Vec<String> {
    let mut args: Vec<String> = args.iter().map(|&word| word.to_owned()).collect();
    match args.last_mut() {
        Some(last) if last.ends_with('=') => last.push_str(file),
        _ => args.push(file.to_owned()),
    }
    args
}

fn words(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[test]
fn on_a_full_device_an_error_names_it() {
    let folder = recorded();
    for args in writers() {
        let ran = folder.run(&words(&to(&args, "/dev/full")));
        let expected = "evenkeel: writing /dev/full: No space left on device (os error 28)\n";
        assert_eq!((ran.code, ran.stderr.as_str()), (2, expected), "{args:?}");
    }
}

#[test]
fn on_a_full_standard_output_an_error_names_it() {
    let folder = recorded();
    for args in writers() {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let args = to(&args, "-");
        let output = folder.command(&words(&args)).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let expected =
            "evenkeel: writing to standard output: No space left on device (os error 28)\n";
        assert_eq!((output.status.code(), said.as_str()), (Some(2), expected), "{args:?}");
    }
}

#[test]
fn a_file_for_which_there_is_no_room_is_named_and_does_not_appear() {
    let folder = recorded();
    let before = folder.files();
    // A limit of the process refuses the first byte of any file, as a full disk does, but needs no
    // right to mount one.
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    for args in writers() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script, env!("CARGO_BIN_EXE_evenkeel")]);
        shell.args(to(&args, "out")).current_dir(folder.path(""));
        let output = shell.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let expected = "evenkeel: writing out: File too large (os error 27)\n";
        assert_eq!((output.status.code(), said.as_str()), (Some(2), expected), "{args:?}");
        assert!(before == folder.files(), "{args:?} left {:?}", folder.files().keys());
    }
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
