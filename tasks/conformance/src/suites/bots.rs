//! The applications of BOTS, as its own Makefiles build them.

use std::path::{Path, PathBuf};

use super::checkouts::Program;

/// An application.
pub struct App {
    /// Below `omp-tasks`.
    pub folder: &'static str,
    /// Macro definitions of its versions, which differ in the cutoff of task creation.
    cutoffs: &'static [&'static str],
    /// Small enough for seconds; a word with a slash is below `inputs`.
    arguments: &'static [&'static str],
}

const NONE: &[&str] = &[""];
const MANUAL: &[&str] = &["", "MANUAL_CUTOFF", "IF_CUTOFF"];
const FINAL: &[&str] = &["", "MANUAL_CUTOFF", "IF_CUTOFF", "FINAL_CUTOFF"];

const fn app(
    folder: &'static str,
    cutoffs: &'static [&'static str],
    arguments: &'static [&'static str],
) -> App {
    App { folder, cutoffs, arguments }
}

/// All of them.
pub const APPS: [App; 14] = [
    app("alignment/alignment_for", NONE, &["-f", "alignment/prot.20.aa"]),
    app("alignment/alignment_single", NONE, &["-f", "alignment/prot.20.aa"]),
    app("concom", NONE, &["-n", "1000", "-l", "1000"]),
    app("fft", NONE, &["-n", "65536"]),
    app("fib", FINAL, &["-n", "20"]),
    app("floorplan", FINAL, &["-f", "floorplan/input.5"]),
    app("health", MANUAL, &["-f", "health/test.input"]),
    app("knapsack", MANUAL, &["-f", "knapsack/knapsack-024.input"]),
    app("nqueens", FINAL, &["-n", "9"]),
    app("sort", NONE, &["-n", "1000000"]),
    app("sparselu/sparselu_for", NONE, &["-n", "20", "-m", "20"]),
    app("sparselu/sparselu_single", NONE, &["-n", "20", "-m", "20"]),
    app("strassen", MANUAL, &["-n", "256"]),
    app("uts", NONE, &["-f", "uts/test.input"]),
];

/// Macros of the build's description, which every application prints and nothing reads.
const MESSAGES: [&str; 6] = ["CDATE", "CC", "LD", "CMESSAGE", "LDFLAGS", "CFLAGS"];
/// The line that an application prints for a right result.
const SUCCESS: &str = "Verification        = successful";

/// The versions of an application.
pub fn programs(checkout: &Path, app: &App, sources: &[PathBuf]) -> Vec<Program> {
    let shared = checkout.join("common");
    let folders = [&shared, &checkout.join("omp-tasks").join(app.folder)];
    let mut options: Vec<String> =
        folders.iter().map(|folder| format!("-I{}", folder.display())).collect();
    options.extend(MESSAGES.iter().map(|name| format!("-D{name}=\"-\"")));
    // Its headers define variables, and each source includes them.
    options.push("-fcommon".to_owned());
    let main = ["bots_main.c", "bots_common.c"].map(|name| shared.join(name));
    let inputs = checkout.join("inputs");
    let argument = |word: &&str| match word.contains('/') {
        true => inputs.join(word).display().to_string(),
        false => (*word).to_owned(),
    };
    let arguments: Vec<String> = app.arguments.iter().chain(&["-c"]).map(argument).collect();
    let version = |cutoff: &&str| {
        let mut options = options.clone();
        let mut name = app.folder.to_owned();
        if let Some((way, _)) = cutoff.split_once('_') {
            options.push(format!("-D{cutoff}"));
            name = format!("{name}-{}", way.to_lowercase());
        }
        Program {
            name,
            group: "bots".to_owned(),
            sources: main.iter().chain(sources).cloned().collect(),
            options,
            arguments: arguments.clone(),
            output: vec![SUCCESS.to_owned()],
        }
    };
    app.cutoffs.iter().map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_an_application_is_a_program() {
        let app = APPS.iter().find(|app| app.folder == "knapsack").unwrap();
        let programs = programs(Path::new("/bots"), app, &[PathBuf::from("/bots/a.c")]);
        let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["knapsack", "knapsack-manual", "knapsack-if"]);
        assert_eq!(programs[1].options.last().unwrap(), "-DMANUAL_CUTOFF");
        let input = "/bots/inputs/knapsack/knapsack-024.input";
        assert_eq!(programs[0].arguments, ["-f", input, "-c"]);
    }
}
