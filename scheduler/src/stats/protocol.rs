//! Requests and answers as sched_ext's tools write them: a line of JSON each (scx_stats of
//! github.com/sched-ext/scx: README.md). One request is ours: `specialization`, with the state `on`
//! or `off`.

use serde_json::{Value, json};

/// `EINVAL`.
const INVALID: i32 = 22;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// For a report.
    Stats,
    /// For the descriptions of a report's fields.
    Meta,
    /// To switch core specialization on or off, for as long as the program is connected.
    Specialization {
        /// Whether it is to be on.
        is_on: bool,
    },
}

/// The request for a report.
#[must_use]
pub fn request() -> String {
    json!({ "req": "stats", "args": { "target": "top" } }).to_string() + "\n"
}

/// The line that answers a request, with the response or the reason why there is none.
#[must_use]
pub fn answer(responded: Result<Value, String>) -> String {
    let (errno, response) = match responded {
        Ok(response) => (0, response),
        Err(problem) => (INVALID, problem.into()),
    };
    json!({ "errno": errno, "args": { "resp": response } }).to_string() + "\n"
}

/// The request in a line.
///
/// # Errors
/// Why it is none.
pub fn read(line: &[u8]) -> Result<Request, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
    if value.get("req").and_then(Value::as_str) == Some("specialization") {
        return match value.pointer("/args/state").and_then(Value::as_str) {
            Some("on") => Ok(Request::Specialization { is_on: true }),
            Some("off") => Ok(Request::Specialization { is_on: false }),
            _ => Err("expected the state \"on\" or \"off\"".to_owned()),
        };
    }
    let target = match value.pointer("/args/target") {
        None => "top",
        Some(target) => target.as_str().ok_or("the target is no text")?,
    };
    match value.get("req").and_then(Value::as_str) {
        Some("stats") if target == "top" => Ok(Request::Stats),
        Some("stats") => Err(format!("no target {target:?}; there is \"top\"")),
        Some("stats_meta") => Ok(Request::Meta),
        _ => Err("expected \"req\": \"stats\", \"stats_meta\" or \"specialization\"".to_owned()),
    }
}

/// The content of an answer.
///
/// # Errors
/// The reason that the server gave, or that the line is no JSON.
pub fn response(line: &[u8]) -> Result<Value, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("the answer is no JSON: {error}"))?;
    let response = value.pointer("/args/resp").cloned().unwrap_or_default();
    match value.get("errno").and_then(Value::as_i64) {
        Some(0) => Ok(response),
        _ => Err(format!("the answer is a refusal: {response}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_to(line: &str) -> Value {
        let responded = read(line.as_bytes()).map(|request| match request {
            Request::Stats => json!({ "dispatched": 1 }),
            Request::Meta => crate::stats::meta(),
            Request::Specialization { is_on } => json!(is_on),
        });
        serde_json::from_str(&answer(responded)).unwrap()
    }

    #[test]
    fn requests_are_those_of_the_tools_of_sched_ext() {
        // As in the README of scx_stats, and as its script for OpenMetrics sends them.
        for line in [
            r#"{"req":"stats","args":{"target":"top"}}"#,
            r#"{"req":"stats","args":{}}"#,
            r#"{"req":"stats"}"#,
            &request(),
        ] {
            let expected = json!({ "errno": 0, "args": { "resp": { "dispatched": 1 } } });
            assert_eq!(answer_to(line), expected, "{line}");
        }
        let meta = answer_to(r#"{"req": "stats_meta", "args": {}}"#);
        assert_eq!(meta["args"]["resp"]["Evenkeel"]["top"], "true");
    }

    #[test]
    fn specialization_is_switched_by_its_state() {
        for (state, is_on) in [("on", true), ("off", false)] {
            let line = format!(r#"{{"req":"specialization","args":{{"state":"{state}"}}}}"#);
            assert_eq!(read(line.as_bytes()), Ok(Request::Specialization { is_on }));
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for line in [
            "",
            "{",
            "[]",
            r#"{"req":"stop"}"#,
            r#"{"req":"stats","args":{"target":"cpus"}}"#,
            r#"{"req":"stats","args":{"target":1}}"#,
            r#"{"req":"specialization"}"#,
            r#"{"req":"specialization","args":{"state":1}}"#,
        ] {
            let answer = answer_to(line);
            assert_eq!(answer["errno"], 22, "{line}");
            assert!(answer["args"]["resp"].is_string());
        }
    }

    #[test]
    fn an_answer_is_read_back() {
        let line = answer(Ok(json!({ "dispatched": 1 })));
        assert_eq!(response(line.as_bytes()).unwrap()["dispatched"], 1);
        let refusal = answer(Err("no".to_owned()));
        assert!(response(refusal.as_bytes()).unwrap_err().contains("a refusal"));
        assert!(response(b"x").is_err());
    }
}
