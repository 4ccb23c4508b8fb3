//! The tutorial tells the truth: its commands are run in their order, in one folder, by a shell,
//! and print what the pages show. `[..]` there stands for a part of a line, `...` for lines.
//!
//! `UPDATE_EXPECT=1` writes what was printed into the pages. Steps whose needs this machine lacks
//! are named; where everything must run (`CI`, `EVENKEEL_CI`) they are failures.

mod page;

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cpu_model::{CpuTable, TurboMode};
use page::{Page, Step, What};
use silicon::{Modelled, Noise};
use snapbox::IntoData;
use snapbox::filter::NormalizeToExpected;
use snapbox::report::{Palette, write_diff};
use tempfile::TempDir;

/// The pages in the order in which they are read.
const PAGES: [&str; 7] = [
    "1-affected.md",
    "2-trial.md",
    "3-record.md",
    "4-what-would-help.md",
    "5-believe-it.md",
    "6-own-scheduler-in-bpf.md",
    "7-own-scheduler-in-rust.md",
];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn pages() -> Vec<Page> {
    let folder = repository().join("docs/tutorial");
    let read = |name: &&str| Page::read(name, &std::fs::read_to_string(folder.join(name)).unwrap());
    PAGES.iter().map(read).collect()
}

/// A folder as the reader has one: `out` in a checkout, where the files stay.
struct Reader {
    checkout: TempDir,
    path: String,
    can_record: bool,
}

/// The end of a step that did as the page says.
enum Done {
    Printed(String),
    /// A need of the step is missing, or this CPU does not show the effect that the step is about.
    Skipped {
        why: String,
        may_be: bool,
    },
}

impl Reader {
    fn new() -> Self {
        let checkout = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(repository()).unwrap().map(Result::unwrap) {
            let name = entry.file_name();
            if ![".git", "out", "target"].iter().any(|hidden| name == *hidden) {
                symlink(entry.path(), checkout.path().join(name)).unwrap();
            }
        }
        std::fs::create_dir(checkout.path().join("out")).unwrap();
        let bin = checkout.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_evenkeel"), bin.join("evenkeel")).unwrap();
        // A user who may record has the rights already, and the test cannot type a password.
        std::fs::write(bin.join("sudo"), "#!/bin/sh\nexec \"$@\"\n").unwrap();
        let executable = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join("sudo"), executable).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut reader = Self { checkout, path, can_record: false };
        let (report, _) = reader.run("evenkeel doctor --json -");
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        reader.can_record = report["abilities"][0]["answer"] == "yes";
        reader
    }

    fn folder(&self) -> PathBuf {
        self.checkout.path().join("out")
    }

    /// The output of a line for the shell on both outputs, and its exit code.
    fn run(&self, command: &str) -> (String, Option<i32>) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1\n{command}")]);
        shell.current_dir(self.folder()).env("PATH", &self.path).stdin(Stdio::null());
        // A build of the reader's own is kept from one test to the next.
        shell.env("CARGO_TARGET_DIR", repository().join("target/tutorial"));
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "RUST_BACKTRACE"] {
            shell.env_remove(name);
        }
        let output = shell.output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
    }

    /// Why a need is not met.
    fn lacks(&self, need: &str) -> Option<String> {
        let (is_met, why) = match need {
            "record" => {
                (self.can_record, "this machine cannot record (evenkeel doctor)".to_owned())
            }
            "table" => (self.measured(), "the measured CPU table has gaps".to_owned()),
            program => {
                let found = self.run(&format!("command -v {program}")).1 == Some(0);
                (found, format!("no {program} here"))
            }
        };
        (!is_met).then_some(why)
    }

    /// Whether `machine.toml` says what each class does and for how long; measured once more where
    /// it does not, as page 1 says.
    fn measured(&self) -> bool {
        let has_gaps = || {
            let (said, _) = self.run("evenkeel cpu check machine.toml");
            ["demand.rules", "license.hold_us"].iter().any(|gap| said.contains(gap))
        };
        if has_gaps() {
            self.run("evenkeel characterize -o machine.toml");
        }
        !has_gaps()
    }

    fn follow(&self, step: &Step) -> Result<Done, String> {
        let lacking = step.needs.iter().find_map(|need| Some((need, self.lacks(need)?)));
        if let Some((need, why)) = lacking {
            return Ok(Done::Skipped { why, may_be: need == "table" });
        }
        match &step.what {
            What::Run { command, code } => match self.run(command) {
                (printed, Some(it)) if it == *code => Ok(Done::Printed(printed)),
                (printed, it) => Err(format!("ended with {it:?} and not {code}:\n{printed}")),
            },
            What::Write { file, text } => {
                let path = self.folder().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
                Ok(Done::Printed(String::new()))
            }
            What::Characterize { cpu } => Ok(Done::Printed(characterized(cpu))),
        }
    }
}

/// The output of `evenkeel characterize` for a modelled machine with this CPU and busy neighbours.
fn characterized(cpu: &str) -> String {
    const SECONDS: f64 = 12.0;
    const SEED: u64 = 1;
    /// The default width of a command whose output is no terminal.
    const COLUMNS: usize = 120;
    let model = CpuTable::by_name(cpu).unwrap().model(TurboMode::On).unwrap();
    let mut machine = Modelled::new(model, Noise::BUSY, SEED);
    let findings = silicon::characterize(&mut machine, SECONDS, SEED, &mut |_| {});
    report::fit(&silicon::table(&findings), COLUMNS)
}

/// The output with `[..]` and `...` where the page has them, if the rest is the same.
fn normalized(printed: &str, shown: &str) -> String {
    let shown = shown.into_data();
    NormalizeToExpected::new().redact().normalize(printed.into_data(), &shown).to_string()
}

#[test]
fn every_command_prints_what_its_page_shows() {
    let reader = Reader::new();
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let strict = ["CI", "EVENKEEL_CI"].iter().any(|name| std::env::var_os(name).is_some());
    let (mut ran, mut skipped, mut lacking, mut wrong) = (0, Vec::new(), 0, String::new());
    for page in pages() {
        let mut outputs = Vec::new();
        for step in &page.steps {
            let place = format!("{}:{}", page.name, step.line);
            let shown = page.shown(step);
            let mut output = None;
            match reader.follow(step) {
                Ok(Done::Skipped { why, may_be }) => {
                    lacking += usize::from(!may_be);
                    skipped.push(format!("{place}: {why}"));
                }
                Ok(Done::Printed(printed)) => {
                    ran += 1;
                    let printed = normalized(&printed, &shown);
                    if printed != shown {
                        let (old, new) = (shown.into_data(), printed.as_str().into_data());
                        let plain = Palette::plain();
                        write_diff(&mut wrong, &old, &new, Some(&place), Some(&"now"), plain)
                            .unwrap();
                        output = Some(printed);
                    }
                }
                Err(why) => writeln!(wrong, "{place}: {why}").unwrap(),
            }
            outputs.push(output);
        }
        if update {
            let path = repository().join("docs/tutorial").join(&page.name);
            std::fs::write(path, page.with(&outputs)).unwrap();
        }
    }
    // Not by a macro, whose output the harness hides when a test passes.
    let mut said = format!("tutorial: {ran} steps ran, {} SKIPPED\n", skipped.len());
    skipped.iter().for_each(|step| writeln!(said, "  {step}").unwrap());
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    assert!(wrong.is_empty(), "UPDATE_EXPECT=1 writes this into the pages:\n{wrong}");
    assert!(!strict || lacking == 0, "where everything must run, a skip is a failure");
}

#[test]
fn every_figure_of_the_prose_is_in_an_output_of_its_page() {
    for page in pages() {
        let outputs: String = page.steps.iter().map(|step| page.shown(step)).collect();
        let figures: Vec<&str> = outputs.split(|c: char| !c.is_ascii_digit() && c != '.').collect();
        for (line, figure) in page.figures() {
            assert!(figures.contains(&&*figure), "{}:{line}: where is {figure} from?", page.name);
        }
    }
}

#[test]
fn a_page_is_short_and_begins_with_its_question() {
    for name in PAGES {
        let text = std::fs::read_to_string(repository().join("docs/tutorial").join(name)).unwrap();
        let title = text.lines().next().unwrap();
        assert!(title.starts_with("# ") && title.ends_with('?'), "{name}: {title}");
        assert!(text.lines().count() < 150, "{name}: {} lines", text.lines().count());
    }
}
