//! One run of one program: the numbers of the line that it prints, or how the run failed.

use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use serde_json::Value;

use super::plan::Work;

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub round: u32,
    pub work: Work,
    pub runtime: String,
    pub outcome: Outcome,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ok(Numbers),
    /// In words for the table.
    Failed(String),
}

/// The time and CPU time of a run, with its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    pub tasks: u64,
    pub wall_ns: u64,
    /// User and system time of the whole process.
    pub cpu_ns: u64,
    pub rss_kb: u64,
}

impl Sample {
    pub fn is_ok(&self) -> bool {
        matches!(self.outcome, Outcome::Ok(_))
    }
}

/// Exit status of `timeout` where time was up, and where even then the program did not end.
const TIME_UP: [i32; 2] = [124, 137];

/// Judges a program by its status and its output.
pub fn judge(output: &Output) -> Outcome {
    let line = String::from_utf8_lossy(&output.stdout);
    match (output.status.code(), numbers(&line)) {
        (Some(0), Ok(numbers)) => Outcome::Ok(numbers),
        (Some(0) | Some(1), Err(why)) => Outcome::Failed(why),
        (Some(code), _) if TIME_UP.contains(&code) => Outcome::Failed("timed out".to_string()),
        (Some(code), _) if code > 128 => Outcome::Failed(format!("crashed: signal {}", code - 128)),
        (Some(code), _) => Outcome::Failed(format!("ended with status {code}")),
        (None, _) => {
            let signal = output.status.signal().unwrap_or_default();
            Outcome::Failed(format!("crashed: signal {signal}"))
        }
    }
}

/// Reads a program's line; an error is a sentence for the table.
fn numbers(text: &str) -> Result<Numbers, String> {
    let line = text.trim_end();
    if line.is_empty() || line.contains('\n') {
        return Err(format!("printed {} lines, not one", line.lines().count()));
    }
    let value: Value = serde_json::from_str(line).map_err(|_| "printed no JSON".to_string())?;
    if value["schema"] != 1 {
        return Err("printed a line of another schema".to_string());
    }
    let check = value["check"].as_str().ok_or("printed no check")?;
    if check != "ok" {
        return Err(check.to_string());
    }
    let number = |name: &str| value[name].as_u64().ok_or_else(|| format!("printed no {name}"));
    let numbers = Numbers {
        tasks: number("tasks")?,
        wall_ns: number("wall_ns")?,
        cpu_ns: number("cpu_ns")?,
        rss_kb: number("rss_kb")?,
    };
    if numbers.tasks == 0 || numbers.wall_ns == 0 {
        return Err("measured nothing".to_string());
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    const LINE: &str = r#"{"schema":1,"program":"chain","runtime":"a","parameters":{"tasks":9},
        "tasks":9,"wall_ns":1800,"cpu_ns":2000,"rss_kb":1024,"check":"ok"}"#;

    fn ended(status: i32, line: &str) -> Outcome {
        let stdout = line.replace('\n', " ").into_bytes();
        judge(&Output { status: ExitStatus::from_raw(status), stdout, stderr: Vec::new() })
    }

    fn failed(why: &str) -> Outcome {
        Outcome::Failed(why.to_string())
    }

    #[test]
    fn a_line_that_is_well_gives_its_numbers() {
        let numbers = Numbers { tasks: 9, wall_ns: 1800, cpu_ns: 2000, rss_kb: 1024 };
        assert_eq!(ended(0, LINE), Outcome::Ok(numbers));
    }

    #[test]
    fn a_failed_check_is_told_in_its_words() {
        let line = LINE.replace("\"ok\"", "\"failed: tasks: 8, not 9\"");
        assert_eq!(ended(1 << 8, &line), failed("failed: tasks: 8, not 9"));
        assert_eq!(ended(0, &line), failed("failed: tasks: 8, not 9"));
    }

    #[test]
    fn a_good_line_before_a_bad_end_is_no_sample() {
        assert_eq!(ended(124 << 8, LINE), failed("timed out"));
        assert_eq!(ended(139 << 8, LINE), failed("crashed: signal 11"));
        assert_eq!(ended(6, LINE), failed("crashed: signal 6"));
        assert_eq!(ended(2 << 8, ""), failed("ended with status 2"));
    }

    #[test]
    fn output_that_is_not_one_line_of_json_is_refused() {
        assert_eq!(ended(0, ""), failed("printed 0 lines, not one"));
        assert_eq!(ended(0, "hello"), failed("printed no JSON"));
        assert_eq!(
            ended(0, &LINE.replace("\"schema\":1", "\"schema\":2")),
            failed("printed a line of another schema")
        );
        assert_eq!(ended(0, &LINE.replace("1800", "-1")), failed("printed no wall_ns"));
        assert_eq!(ended(0, &LINE.replace("1800", "0")), failed("measured nothing"));
    }
}
