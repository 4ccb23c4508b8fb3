//! Requests and answers as sched_ext's tools write them: a line of JSON each (scx_stats of
//! github.com/sched-ext/scx: README.md).

use serde_json::{Value, json};

/// `EINVAL`.
const INVALID: i32 = 22;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Stats,
    Meta,
}

/// The request for a report.
#[must_use]
pub fn request() -> String {
    json!({ "req": "stats", "args": { "target": "top" } }).to_string() + "\n"
}

/// The line that answers a request; `report` is called if the request is for a report.
pub fn answer(line: &[u8], report: impl FnOnce() -> Value) -> String {
    let (errno, response) = match read(line) {
        Ok(Request::Stats) => (0, report()),
        Ok(Request::Meta) => (0, super::meta()),
        Err(problem) => (INVALID, problem.into()),
    };
    json!({ "errno": errno, "args": { "resp": response } }).to_string() + "\n"
}

fn read(line: &[u8]) -> Result<Request, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
    let target = match value.pointer("/args/target") {
        None => "top",
        Some(target) => target.as_str().ok_or("the target is no text")?,
    };
    match value.get("req").and_then(Value::as_str) {
        Some("stats") if target == "top" => Ok(Request::Stats),
        Some("stats") => Err(format!("no target {target:?}; there is \"top\"")),
        Some("stats_meta") => Ok(Request::Meta),
        _ => Err("expected \"req\": \"stats\" or \"stats_meta\"".to_owned()),
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
        serde_json::from_str(&answer(line.as_bytes(), || json!({ "dispatched": 1 }))).unwrap()
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
    fn what_is_no_request_is_refused() {
        for line in [
            "",
            "{",
            "[]",
            r#"{"req":"stop"}"#,
            r#"{"req":"stats","args":{"target":"cpus"}}"#,
            r#"{"req":"stats","args":{"target":1}}"#,
        ] {
            let answer = answer_to(line);
            assert_eq!(answer["errno"], 22, "{line}");
            assert!(answer["args"]["resp"].is_string());
        }
    }

    #[test]
    fn an_answer_is_read_back() {
        let line = answer(request().as_bytes(), || json!({ "dispatched": 1 }));
        assert_eq!(response(line.as_bytes()).unwrap()["dispatched"], 1);
        let refusal = answer(b"{}", || json!({}));
        assert!(response(refusal.as_bytes()).unwrap_err().contains("a refusal"));
        assert!(response(b"x").is_err());
    }
}
