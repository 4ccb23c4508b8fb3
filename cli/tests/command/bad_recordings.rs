//! Recordings that are damaged, hostile or not what they seem.

use std::io::Write;

use crate::harness::{Folder, recorded};

const IDLE: (&str, u32) = ("swapper/0", 0);

/// One switch as perf prints it; `at` is in units of 100 ms.
fn switch(at: u64, prev: (&str, u32), next: (&str, u32)) -> String {
    format!(
        "{:>16} {}/{} [000] {}.{}00000000: sched:sched_switch: prev_comm={} prev_pid={} \
         prev_prio=120 prev_state=R ==> next_comm={} next_pid={} next_prio=120\n",
        prev.0,
        prev.1,
        prev.1,
        10 + at / 10,
        at % 10,
        prev.0,
        prev.1,
        next.0,
        next.1
    )
}

/// Two programs that take turns on one CPU.
fn turns(one: &str, other: &str) -> String {
    let mut text = switch(0, IDLE, (one, 7));
    for at in 1..20 {
        let (prev, next) =
            if at % 2 == 1 { ((one, 7), (other, 8)) } else { ((other, 8), (one, 7)) };
        text += &switch(at, prev, next);
    }
    text
}

fn packed(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}

#[track_caller]
fn import_refused(contents: impl AsRef<[u8]>, sentence: &str) {
    let folder = Folder::new();
    folder.write("rec.txt", contents);
    let args = ["trace", "import", "rec.txt", "-o", "new/rec.ektrace", "--json", "new/rec.json"];
    folder.refused(&args, sentence);
}

#[test]
fn text_without_a_switch_is_refused() {
    import_refused("", "rec.txt: no sched_switch of a known CPU in 0 lines; expected the text of");
    import_refused("\n\n\n", "rec.txt: no sched_switch of a known CPU in 3 lines; expected");
    import_refused([0xff, 0x00, 0x1b, b'\n', 0x80], "rec.txt: no sched_switch of a known CPU in 2");
}

#[test]
fn text_that_is_mostly_something_else_is_refused() {
    let noise = "Mar 14 a line of a log\n".repeat(50);
    import_refused(turns("a", "b") + &noise, "rec.txt: ");
}

#[test]
fn a_file_of_perf_that_was_cut_is_refused_with_the_remedy() {
    let sentence = "rec.txt: its header is not whole: the file was cut, or its recorder was killed; \
                    end perf with Ctrl-C";
    import_refused(b"PERFILE2\0\0\0\x01\x02", sentence);
    let mut killed = b"PERFILE2".to_vec();
    killed.resize(4096, 0);
    import_refused(killed, "rec.txt: perf has not noted the length of its data: the file was cut");
}

#[test]
fn binary_streams_are_refused_with_what_is_read_instead() {
    let pipe = b"PERFILE2\x10\0\0\0\0\0\0\0\x40\0\0\0";
    import_refused(
        pipe,
        "rec.txt: this is the output of `perf record` into a pipe; expected a file",
    );
    import_refused(
        packed("PERFILE2 and more than that"),
        "rec.txt: this is the file of perf, whose",
    );
    let trace_cmd = b"\x17\x08Dtracing7\0";
    import_refused(trace_cmd, "rec.txt: this is the file of trace-cmd; expected its text from");
}

#[test]
fn a_packed_text_that_is_cut_off_is_refused() {
    let whole = packed(&turns("a", "b"));
    import_refused(&whole[..whole.len() / 2], "rec.txt: start: cannot read: incomplete frame");
}

#[test]
fn a_small_file_that_unpacks_to_a_line_without_end_is_refused() {
    let bomb = zstd::encode_all(&vec![b' '; 64 << 20][..], 1).unwrap();
    assert!(bomb.len() < 16 << 10);
    import_refused(&bomb, "rec.txt: no sched_switch of a known CPU in 1 lines");
    let folder = Folder::new();
    folder.write("rec.ektrace", &bomb);
    folder.refused(&["trace", "info", "rec.ektrace"], "rec.ektrace: line 1: not a history");
}

#[test]
fn a_time_far_before_the_lines_above_is_refused_with_its_line() {
    let text = turns("a", "b").repeat(40);
    import_refused(text, "rec.txt: line ");
}

#[test]
fn truncated_interleaved_and_shuffled_text_is_repaired_and_counted() {
    let folder = Folder::new();
    let text = turns("a", "b");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(4, 9);
    lines.insert(6, "a line that someone else wrote in between");
    let text = lines.join("\n");
    folder.write("rec.txt", &text[..text.len() - 30]);
    let said = folder.succeed(&["trace", "import", "rec.txt", "-o", "rec.ektrace"]);
    for note in ["out of order", "are no events", "the first: 7", "the last line is cut off"] {
        assert!(said.contains(note), "{note}\n{said}");
    }
    folder.succeed(&["trace", "validate", "rec.ektrace"]);
}

/// Names that a terminal, a page, a table or JSON could take for more than a name.
const HOSTILE: [&str; 4] =
    ["\u{1b}[2J\u{7}evil", "<img src=x>&", "\u{202e}\"',=1+1", "</script>{}\\"];

#[test]
fn hostile_names_are_shown_and_never_obeyed() {
    for (name, other) in HOSTILE.iter().zip(HOSTILE.iter().cycle().skip(1)) {
        let folder = Folder::new();
        folder.write("rec.txt", turns(name, other));
        let mut shown =
            folder.succeed(&["trace", "import", "rec.txt", "-o", "r.ektrace", "--json", "i.json"]);
        shown += &folder.succeed(&["trace", "info", "r.ektrace"]);
        shown += &folder.succeed(&["trace", "validate", "r.ektrace"]);
        let files = ["--json", "r.json", "--csv", "r.csv", "--page", "r.html", "--page", "r.svg"];
        folder.write("marks.csv", "10000000000,12000000000,7,avx512-heavy\n");
        let flags = ["--trace", "r.ektrace", "--set", "marks=marks.csv", "--replicates", "1"];
        let schedulers = ["--scheduler", "fair,fair-isolation"];
        shown += &folder.succeed(&[&["compare"], &files[..], &flags[..], &schedulers].concat());
        folder.succeed(&["trace", "export", "r.ektrace", "--format", "ftrace", "-o", "r.txt"]);
        for file in ["i.json", "r.json", "r.csv", "r.html", "r.svg", "r.txt"] {
            // Lines of CSV end as RFC 4180 wants it.
            shown += &folder.read(file).replace("\r\n", "\n");
        }
        let obeyed = |c: char| c == '\u{202e}' || (c.is_control() && c != '\n');
        assert!(!shown.contains(obeyed), "{name:?}");
        for file in ["r.html", "r.svg"] {
            let text = folder.read(file);
            assert!(!text.contains("<img") && !text.contains("</script>{}"), "{name:?} in {file}");
        }
        for file in ["i.json", "r.json"] {
            serde_json::from_str::<serde_json::Value>(&folder.read(file)).unwrap();
        }
    }
}

#[test]
fn a_page_shows_a_hostile_name_as_text() {
    let folder = Folder::new();
    folder.write("rec.txt", turns("<img src=x>&", "e"));
    folder.succeed(&["trace", "import", "rec.txt", "-o", "r.ektrace"]);
    let flags = ["--class", "e=avx512-heavy", "--scheduler", "fair", "--page", "r.html"];
    let table = folder.succeed(&[&["compare", "--trace", "r.ektrace"], &flags[..]].concat());
    assert!(table.contains("<img src=x>&"), "{table}");
    assert!(folder.read("r.html").contains("&lt;img src=x&gt;&amp;"));
}

const BEGIN: &str = "{\"ektrace\":{\"schema\":1}}\n";

#[test]
fn histories_that_are_damaged_are_refused_by_every_verb() {
    let whole = std::fs::read(recorded().path("rec.ektrace")).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x55;
    let cases: [(Vec<u8>, &str); 8] = [
        (Vec::new(), "rec.ektrace: no history; `evenkeel trace import` makes one"),
        (b"junk\x1b\xff".to_vec(), "rec.ektrace: no history; `evenkeel trace import` makes one"),
        (whole[..8].to_vec(), "rec.ektrace: the file is cut off: its end"),
        (whole[..whole.len() / 2].to_vec(), "rec.ektrace: the file is cut off: its end"),
        (flipped, "rec.ektrace: "),
        (packed("{\"schema\":1}\n"), "rec.ektrace: line 1: "),
        (packed(BEGIN), "rec.ektrace: the file is cut off: its end"),
        (
            packed("{\"ektrace\":{\"schema\":6}}\n"),
            "rec.ektrace: line 1, field schema: 6 is newer than 5, the newest that can be read",
        ),
    ];
    for (contents, sentence) in cases {
        let folder = Folder::new();
        folder.write("rec.ektrace", contents);
        for args in [
            &["trace", "info", "rec.ektrace"][..],
            &["trace", "validate", "rec.ektrace"],
            &["trace", "export", "rec.ektrace", "-o", "new/r.pftrace"],
            &["trace", "scrub", "rec.ektrace", "-o", "new/r.ektrace"],
            &["compare", "--trace", "rec.ektrace", "--class", "a=amx", "--json", "new/r.json"],
        ] {
            folder.refused(args, sentence);
        }
    }
}

#[test]
fn names_in_a_forged_history_are_cleaned_or_refused() {
    let folder = Folder::new();
    folder.write("rec.txt", turns("forged", "other"));
    folder.succeed(&["trace", "import", "rec.txt", "-o", "r.ektrace"]);
    let packed_bytes = std::fs::read(folder.path("r.ektrace")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed_bytes[..]).unwrap()).unwrap();
    assert!(text.contains("\"forged\""));
    let forged = text.replace("\"forged\"", "\"\\u001b[2J\\u202e<b>\"");
    let mut file = std::fs::File::create(folder.path("f.ektrace")).unwrap();
    file.write_all(&packed(&forged)).unwrap();
    let ran = folder.run(&["trace", "info", "f.ektrace"]);
    let obeyed = |c: char| c == '\u{202e}' || (c.is_control() && c != '\n');
    assert!(!(ran.stdout + &ran.stderr).contains(obeyed));
}

#[test]
fn histories_that_contradict_themselves_are_refused() {
    let folder = Folder::new();
    folder.write("rec.txt", turns("a", "b"));
    folder.succeed(&["trace", "import", "rec.txt", "-o", "r.ektrace"]);
    let whole = std::fs::read(folder.path("r.ektrace")).unwrap();
    let text = String::from_utf8(zstd::decode_all(&whole[..]).unwrap()).unwrap();
    for (from, to) in [("\"next\":8", "\"next\":99"), ("\"cpu\":0", "\"cpu\":77")] {
        assert!(text.contains(from), "{text}");
        folder.write("f.ektrace", packed(&text.replacen(from, to, 1)));
        folder
            .refused(&["trace", "info", "f.ektrace"], "f.ektrace: the history contradicts itself");
    }
}

#[test]
fn a_recording_without_classes_is_refused_with_what_to_say() {
    let folder = recorded();
    let say = "rec.ektrace: the recording does not say which tasks use wide instructions; say so \
               with --class 'GLOB=CLASS' or --set marks=FILE\n";
    folder.refused(&["compare", "--trace", "rec.ektrace", "--page", "p.html"], say);
    let scalar = "rec.ektrace: neither --class nor --set marks gives a wide class to a task";
    folder.refused(&["compare", "--trace", "rec.ektrace", "--class", "*=scalar"], scalar);
}

#[test]
fn a_rule_or_marks_that_fit_no_task_are_refused_with_the_tasks_that_ran() {
    let folder = recorded();
    let rules = ["--class", "x265*=avx512-heavy", "--class", "nobody*=amx"];
    folder.refused(
        &[&["compare", "--trace", "rec.ektrace"], &rules[..]].concat(),
        "--class: rule 2 `nobody*=amx` fits no task of rec.ektrace; those that ran longest are xz, x265",
    );
    let compare = ["compare", "--trace", "rec.ektrace", "--set", "marks=marks.csv"];
    for marks in ["1,2,999999,amx\n", "1,2,1877,amx\n", "1,2,1877,amx\n1,2,9999999,amx\n"] {
        folder.write("marks.csv", marks);
        let count = marks.lines().count();
        let about =
            format!("marks.csv: none of {count} marks is about a task and time of rec.ektrace: ");
        folder.refused(&compare, &about);
    }
    folder.write("marks.csv", "begin_ns,end_ns,tid,class\n");
    folder.refused(&compare, "marks.csv: no marks\n");
}

#[test]
fn marks_of_which_some_fit_no_task_are_counted() {
    let folder = Folder::new();
    folder.write("rec.txt", turns("a", "b"));
    folder.succeed(&["trace", "import", "rec.txt", "-o", "r.ektrace"]);
    folder.write("marks.csv", "10000000000,12000000000,7,avx512-heavy\n1,2,99,amx\n1,2,8,amx\n");
    let flags = ["--set", "marks=marks.csv", "--scheduler", "fair", "--replicates", "1"];
    let table = folder.succeed(&[&["compare", "--trace", "r.ektrace"], &flags[..]].concat());
    assert!(table.contains("2 marks are about no task or time of the recording"), "{table}");
}

#[test]
fn a_small_history_that_unpacks_to_a_lot_is_refused() {
    let folder = Folder::new();
    let line = "{\"t\":1,\"e\":\"fork\",\"task\":7,\"by\":0}\n";
    folder.write("bomb.ektrace", packed(&(BEGIN.to_owned() + &line.repeat(400_000))));
    folder.refused(&["trace", "info", "bomb.ektrace"], "bomb.ektrace: line ");
}

#[test]
fn mistakes_in_classes_marks_and_cpus_are_refused() {
    let folder = recorded();
    folder.write("marks.csv", "begin_ns,end_ns,tid,class\n1,2,x,amx\n");
    let args = |flag, value| ["compare", "--trace", "rec.ektrace", flag, value];
    let cases = [
        ("x265*", "--class: rule 1 `x265*`: expected GLOB=CLASS or GLOB=CLASS@RATE"),
        ("x265*=avx9", "--class: rule 1, class `avx9`: expected one of scalar, avx2-light"),
        ("x265*=amx@-1", "--class: rule 1"),
        ("x265*=amx@nan", "--class: rule 1"),
    ];
    for (rule, sentence) in cases {
        folder.refused(&args("--class", rule), sentence);
    }
    folder
        .refused(&args("--set", "marks=marks.csv"), "marks.csv: line 2, field tid: `x`, expected");
    folder.refused(&args("--set", "marks=none.csv"), "reading none.csv: No such file");
    for cpus in ["0", "100000"] {
        let setting = format!("--set=cpus={cpus}");
        let flags = [&args("--class", "x265*=amx")[..], &[&setting]].concat();
        folder.refused(&flags, &format!("rec.ektrace: {cpus} logical CPUs, expected 1 to 1024"));
    }
    let folder_as_trace = ["compare", "--trace", ".", "--class", "a=amx"];
    folder.refused(&folder_as_trace, "reading .: is a directory");
    folder.refused(&["trace", "import", ".", "-o", "i.ektrace"], "reading .: is a directory");
    let history = recorded();
    let again = ["trace", "import", "rec.ektrace", "-o", "again.ektrace"];
    history.refused(&again, "rec.ektrace: a history already; nothing to import\n");
}
