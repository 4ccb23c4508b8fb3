//! How a test came out.

use super::process::End;
use super::program::Run;

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed(String),
    TimedOut,
    /// The library reported that the function is not supported.
    Unsupported(String),
    /// The test fails with its own library, too, on this machine.
    NotApplicable(String),
    Skipped(String),
}

/// Names of outcomes, in the order of the table's columns.
pub const NAMES: [&str; 6] =
    ["passed", "failed", "timed out", "unsupported", "not applicable", "skipped"];

impl Outcome {
    /// Which of the names.
    pub fn index(&self) -> usize {
        match self {
            Self::Passed => 0,
            Self::Failed(_) => 1,
            Self::TimedOut => 2,
            Self::Unsupported(_) => 3,
            Self::NotApplicable(_) => 4,
            Self::Skipped(_) => 5,
        }
    }

    pub fn name(&self) -> &'static str {
        NAMES[self.index()]
    }

    /// The function that is lacking, or why.
    pub fn detail(&self) -> &str {
        match self {
            Self::Passed | Self::TimedOut => "",
            Self::Failed(why)
            | Self::Unsupported(why)
            | Self::NotApplicable(why)
            | Self::Skipped(why) => why,
        }
    }

    /// Whether the result counts against the library.
    pub fn is_miss(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::TimedOut | Self::Unsupported(_))
    }
}

/// Compares the end of a command with the expected one.
pub fn judge(end: End, output: &str, run: &Run) -> Outcome {
    if let Some(name) = unsupported(output) {
        return Outcome::Unsupported(name.to_owned());
    }
    if let Some(name) = between(output, "undefined symbol: ", &[',', '\n']) {
        return Outcome::Failed(format!("no symbol {name}"));
    }
    match end {
        End::TimeUp => Outcome::TimedOut,
        End::Status(0) if run.should_fail => Outcome::Failed("ended well".to_owned()),
        End::Status(status) if status != 0 && !run.should_fail => {
            Outcome::Failed(format!("status {status}"))
        }
        End::Signal(signal) if !run.should_fail => Outcome::Failed(format!("signal {signal}")),
        End::Status(_) | End::Signal(_) => {
            match run.output.iter().find(|text| !output.contains(text.as_str())) {
                Some(text) => Outcome::Failed(format!("did not say `{text}`")),
                None => Outcome::Passed,
            }
        }
    }
}

/// The name in our message (`openmp/src/unsupported.rs`).
fn unsupported(output: &str) -> Option<&str> {
    output.lines().find_map(|line| {
        let (_, rest) = line.split_once("evenkeel: ")?;
        rest.split_once(" is not supported").map(|(name, _)| name)
    })
}

fn between<'a>(text: &'a str, begin: &str, ends: &[char]) -> Option<&'a str> {
    let (_, rest) = text.split_once(begin)?;
    rest.split(ends).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(why: &str) -> Outcome {
        Outcome::Failed(why.to_owned())
    }

    #[test]
    fn an_end_is_judged_by_what_a_test_wants() {
        let well = Run::default();
        let badly = Run { should_fail: true, ..Run::default() };
        assert_eq!(judge(End::Status(0), "", &well), Outcome::Passed);
        assert_eq!(judge(End::Status(1), "", &well), failed("status 1"));
        assert_eq!(judge(End::Signal(11), "", &well), failed("signal 11"));
        assert_eq!(judge(End::TimeUp, "", &badly), Outcome::TimedOut);
        assert_eq!(judge(End::Status(1), "", &badly), Outcome::Passed);
        assert_eq!(judge(End::Status(0), "", &badly), failed("ended well"));
    }

    #[test]
    fn an_unsupported_function_is_no_expected_failure() {
        let badly = Run { should_fail: true, ..Run::default() };
        let output = "a\nevenkeel: GOMP_error is not supported\n";
        let lacking = Outcome::Unsupported("GOMP_error".to_owned());
        assert_eq!(judge(End::Signal(6), output, &badly), lacking);
    }

    #[test]
    fn a_symbol_that_no_library_has_is_named() {
        let output = "./test: undefined symbol: omp_f, version OMP_9\n";
        assert_eq!(judge(End::Status(127), output, &Run::default()), failed("no symbol omp_f"));
    }

    #[test]
    fn an_output_may_be_asked_for() {
        let run = Run { output: vec!["b".to_owned()], ..Run::default() };
        assert_eq!(judge(End::Status(0), "abc", &run), Outcome::Passed);
        assert_eq!(judge(End::Status(0), "ac", &run), failed("did not say `b`"));
    }
}
