//! Does a real Prometheus read the metrics of `evenkeel top`, and answer what we say it answers?
//!
//! It scrapes `evenkeel top` beside two tasks that share a CPU, and metrics of a machine that this
//! one may not be: with siblings, and with 512-bit code that lowers clocks. Then every expression
//! of docs/prometheus.md and of the dashboard must have an answer.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::Done;
use crate::command::{find, program, target, tested};
use crate::repo;

/// Here are the expressions.
const DOCUMENT: &str = "docs/prometheus.md";
const DASHBOARD: &str = "docs/grafana/evenkeel.json";
/// A table, so that there are metrics of levels.
const CPU: &str = "xeon-gold-6130";
/// For Prometheus to start and scrape a few times; on a loaded machine that takes long.
const PATIENCE: Duration = Duration::from_secs(90);
const SCRAPES: f64 = 12.0;
/// Metrics that this machine may lack; `N` is a number that grows, and a machine without a CPU
/// table. A test of `cli/src/top/metrics.rs` has the same names.
const OF_ANOTHER: &str = "\
evenkeel_cpu_seconds_total{group=\"nginx\"} N
evenkeel_wide_leaves_total{group=\"x265\"} N
evenkeel_waited_seconds_total{victim=\"nginx\",culprit=\"x265\"} N
evenkeel_beside_seconds_total{victim=\"nginx\",culprit=\"x265\"} N
evenkeel_clock_lost_seconds_total{victim=\"nginx\",culprit=\"x265\"} N
evenkeel_cpu_busy_seconds_total{cpu=\"0\"} N
evenkeel_cpu_held_seconds_total{cpu=\"0\"} N
evenkeel_collector_without_room_total N
evenkeel_collector_info{by=\"process\",cpu_table=\"\",version=\"0\"} 1
";

/// A program that ends with this value.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Result<Self> {
        Ok(Self(command.spawn().with_context(|| format!("starting {command:?}"))?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Scrapes, asks, and compares the number of answers with what must be there.
pub fn check() -> Result<Done> {
    for tool in ["prometheus", "promtool", "taskset"] {
        if find(&[tool]).is_none() {
            return Ok(Done::Skipped(format!("no {tool} here")));
        }
    }
    let evenkeel = tested()?.join("evenkeel");
    let mut top = program(&evenkeel.to_string_lossy());
    top.args(["top", "--no-screen", "--prometheus", "127.0.0.1:0", "--cpu", CPU]);
    let mut top = Running::start(top.stderr(Stdio::piped()))?;
    let stderr = top.0.stderr.take().context("the command has a standard error")?;
    let mut said = String::new();
    BufReader::new(stderr).read_line(&mut said)?;
    let Some(address) = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()) else {
        return Ok(Done::Skipped(format!("nothing can be collected here: {}", said.trim())));
    };
    let mut busy = program("taskset");
    busy.args(["-c", "0", "sh", "-c", "while :; do :; done"]);
    let _busy = [Running::start(&mut busy)?, Running::start(&mut busy)?];
    let another = serve_another()?;
    let (_prometheus, server) = prometheus(&[address, &another])?;
    wait(&server)?;
    check_text(address)?;
    let mut faults = Vec::new();
    for expression in expressions()? {
        match ask(&server, &expression) {
            Err(error) => faults.push(format!("{expression}: {error:#}")),
            Ok(answers) => {
                println!("{} answers: {expression}", answers.len());
                if answers.is_empty() {
                    faults.push(format!("{expression}: no answer"));
                }
            }
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    Ok(Done::Passed)
}

/// Serves [`OF_ANOTHER`] until the process ends, and returns the address.
fn serve_another() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let Ok(stream) = stream else { continue };
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            // The request ends with an empty line.
            let _ = lines.find(String::is_empty);
            let body = OF_ANOTHER.replace(" N\n", &format!(" {number}\n"));
            // A scraper that has gone scrapes again.
            let _ = write!(
                &stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: \
                 {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    Ok(address)
}

/// A Prometheus that scrapes those addresses, and its own address.
fn prometheus(scraped: &[&str]) -> Result<(Running, String)> {
    let folder = target().join("prometheus");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let config = folder.join("prometheus.yml");
    let text = format!(
        "scrape_configs:\n  - job_name: evenkeel\n    scrape_interval: 1s\n    scrape_timeout: \
         1s\n    \
         static_configs:\n      - targets: {scraped:?}\n"
    );
    fs::write(&config, text)?;
    // Prometheus takes no port 0; this one was free just now.
    let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let log = fs::File::create(folder.join("log"))?;
    let mut command = program("prometheus");
    command
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
        .arg(format!("--web.listen-address={free}"))
        .stdout(Stdio::null())
        .stderr(log);
    Ok((Running::start(&mut command)?, format!("http://{free}")))
}

/// Waits until Prometheus has scraped a few readings.
fn wait(server: &str) -> Result<()> {
    let begin = Instant::now();
    let scrapes = "count_over_time(evenkeel_collector_readings_total[5m])";
    loop {
        let answers = ask(server, scrapes);
        let count = answers.as_ref().ok().and_then(|answers| answers.first().copied());
        if count.is_some_and(|count| count >= SCRAPES) {
            return Ok(());
        }
        ensure!(begin.elapsed() < PATIENCE, "Prometheus scraped too little: {answers:?}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// The values that answer an expression now.
fn ask(server: &str, expression: &str) -> Result<Vec<f64>> {
    let mut promtool = program("promtool");
    promtool.args(["query", "instant", "--format=json", server, expression]);
    let output = promtool.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}", said.trim());
    let answers: Value = serde_json::from_slice(&output.stdout)?;
    let answers = answers.as_array().context("expected a list of answers")?;
    let value = |answer: &Value| answer.pointer("/value/1")?.as_str()?.parse().ok();
    Ok(answers.iter().filter_map(value).collect())
}

/// The text of the metrics satisfies the linter of Prometheus.
fn check_text(address: &str) -> Result<()> {
    let address: SocketAddr = address.parse()?;
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: evenkeel\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, text) = answer.split_once("\r\n\r\n").context("expected an answer of HTTP")?;
    ensure!(head.starts_with("HTTP/1.1 200 "), "the metrics are not served: {head}");
    let mut promtool = program("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn()?;
    promtool.stdin.take().context("promtool reads")?.write_all(text.as_bytes())?;
    let output = promtool.wait_with_output()?;
    if !output.status.success() || !output.stderr.is_empty() {
        bail!("promtool check metrics: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// All expressions of the document and of the dashboard.
fn expressions() -> Result<Vec<String>> {
    let root = repo::root();
    let document = fs::read_to_string(root.join(DOCUMENT))?;
    let dashboard = serde_json::from_str(&fs::read_to_string(root.join(DASHBOARD))?)?;
    let mut all = of_document(&document);
    of_dashboard(&dashboard, &mut all);
    Ok(all)
}

fn of_document(text: &str) -> Vec<String> {
    let blocks = text.split("```promql\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.map(|block| block.trim().to_owned()).collect()
}

/// The expressions in a part of a dashboard, with values in place of variables.
fn of_dashboard(part: &Value, all: &mut Vec<String>) {
    match part {
        Value::Array(parts) => parts.iter().for_each(|part| of_dashboard(part, all)),
        Value::Object(fields) => {
            let expression = fields.get("expr").and_then(Value::as_str);
            let filled = |text: &str| {
                let text = text.replace("$instance", ".*").replace("$__rate_interval", "1m");
                text.replace("$__range", "5m")
            };
            all.extend(expression.map(filled));
            fields.values().for_each(|part| of_dashboard(part, all));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_found_in_documents_and_dashboards() {
        assert_eq!(
            of_document("a\n```promql\nup\n```\n```sh\nls\n```\n```promql\nb\n```"),
            ["up", "b"]
        );
        let mut all = Vec::new();
        let panels = r#"{"panels":[
            {"panels":[{"targets":[{"expr":"rate(a{i=~\"$instance\"}[$__rate_interval])"}]}]},
            {"targets":[{"expr":"rate(a[$__range] @ end())"}]}]}"#;
        of_dashboard(&serde_json::from_str(panels).unwrap(), &mut all);
        assert_eq!(all, ["rate(a{i=~\".*\"}[1m])", "rate(a[5m] @ end())"]);
    }

    #[test]
    fn the_repository_has_expressions() {
        assert!(expressions().unwrap().len() > 20);
    }
}
