//! The table of performance events in `sensors`, from Intel's event lists and our questions.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// Rows of Intel's event lists, and of the dissertation's Table 3.2.
const EVENTS: &str = "sensors/data/perfmon_events.csv";
/// Which events answer which question.
const QUESTIONS: &str = "sensors/data/questions.toml";
/// The generated file.
pub const TABLE: &str = "sensors/src/pmu/table.rs";

/// A row of the event lists.
struct Row {
    cpu: String,
    name: String,
    model: String,
    event: String,
    code: u32,
    umask: u32,
    cmask: u32,
    /// Bits of the general counters with and without hyper-threading; 0: a fixed counter.
    counters: [u8; 2],
    is_per_core: bool,
    source: String,
}

/// A question, events that answer it, and what they miss.
struct Answer {
    question: String,
    events: Vec<String>,
    misses: String,
}

/// The text of the table.
pub fn table(root: &Path) -> Result<String> {
    let read = |name: &str| fs::read_to_string(root.join(name)).with_context(|| name.to_owned());
    let rows = rows(&read(EVENTS)?).context(EVENTS)?;
    let answers = answers(&read(QUESTIONS)?).context(QUESTIONS)?;
    write_table(&rows, &answers)
}

fn rows(text: &str) -> Result<Vec<Row>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers()?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let column = |name: &str| -> Result<String> {
            let position = names.iter().position(|it| it == name);
            let value = position.and_then(|position| record.get(position));
            Ok(value.with_context(|| format!("no column {name}"))?.to_owned())
        };
        let event = column("event")?;
        let number = |name: &str| -> Result<u32> {
            parse(&column(name)?).with_context(|| format!("{event}: {name}"))
        };
        rows.push(Row {
            code: number("event_code")?,
            umask: number("umask")?,
            cmask: number("cmask")?,
            counters: [
                counters(&column("counters_ht_on")?)?,
                counters(&column("counters_ht_off")?)?,
            ],
            is_per_core: column("scope")?.contains("per-core"),
            cpu: column("cpu")?,
            name: column("name")?,
            model: column("model")?,
            source: column("source")?,
            event,
        });
    }
    Ok(rows)
}

/// A number with `0x` before hexadecimal digits, or a decimal one.
fn parse(text: &str) -> Result<u32> {
    Ok(match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16)?,
        None => text.parse()?,
    })
}

/// The bits of a list of counters; none for a fixed counter.
fn counters(text: &str) -> Result<u8> {
    if text.starts_with("Fixed counter") {
        return Ok(0);
    }
    text.split(',').try_fold(0, |bits, counter| {
        let counter: u32 = counter.parse().with_context(|| format!("counters {text:?}"))?;
        ensure!(counter < 8, "counter {counter}: expected 0 to 7");
        Ok(bits | 1 << counter)
    })
}

fn answers(text: &str) -> Result<Vec<Answer>> {
    let table: toml::Table = text.parse()?;
    let list = table.get("answer").and_then(toml::Value::as_array).context("no [[answer]]")?;
    let answer = |value: &toml::Value| {
        let text = |key: &str| {
            let found = value.get(key).and_then(toml::Value::as_str);
            found.map(str::to_owned).with_context(|| format!("an answer without {key}"))
        };
        let events = value.get("events").and_then(toml::Value::as_array).context("no events")?;
        let events = events.iter().filter_map(|event| event.as_str().map(str::to_owned));
        Ok(Answer {
            question: text("question")?,
            events: events.collect(),
            misses: text("misses")?,
        })
    };
    list.iter().map(answer).collect()
}

/// `StallsL2Miss` of `stalls-l2-miss`; an x separates numbers.
fn variant(question: &str) -> String {
    let mut name = String::new();
    for word in question.split('-') {
        let numbers = name.ends_with(|it: char| it.is_ascii_digit())
            && word.starts_with(|it: char| it.is_ascii_digit());
        name += if numbers { "x" } else { "" };
        name.extend(word.chars().take(1).map(|first| first.to_ascii_uppercase()));
        name.extend(word.chars().skip(1));
    }
    name
}

/// Models and steppings of a family, from text such as `06_6A/06_6C` and
/// `06_55 stepping 5-B`.
fn models(text: &str) -> Result<(u32, Vec<String>)> {
    let (list, steppings) = text.split_once(" stepping ").unwrap_or((text, "0-F"));
    let hex = |digits: &str| u32::from_str_radix(digits, 16).with_context(|| text.to_owned());
    let (first, last) = steppings.split_once('-').with_context(|| text.to_owned())?;
    let (first, last) = (hex(first)?, hex(last)?);
    let mut families = BTreeSet::new();
    let mut models = Vec::new();
    for name in list.split('/') {
        let (family, model) = name.split_once('_').with_context(|| text.to_owned())?;
        families.insert(hex(family)?);
        models.push(format!(
            "Model {{ number: {:#04x}, steppings: ({first}, {last}) }}",
            hex(model)?
        ));
    }
    ensure!(families.len() == 1, "{text}: expected one family");
    Ok((families.into_iter().next().unwrap_or_default(), models))
}

const HEAD: &str = "\
//! Written by `cargo xtask gen` from data/perfmon_events.csv and data/questions.toml.

use super::events::{Event, Microarchitecture, Model, Question, Scope};
";

fn write_table(rows: &[Row], answers: &[Answer]) -> Result<String> {
    let mut text = String::from(HEAD);
    let mut misses: Vec<&str> = answers.iter().map(|answer| answer.misses.as_str()).collect();
    misses.sort_unstable();
    misses.dedup();
    writeln!(text, "\n/// What events miss.\nconst MISSES: [&str; {}] = [", misses.len())?;
    for sentence in &misses {
        writeln!(text, "{},", quoted(sentence, "    "))?;
    }
    text.push_str("];\n\n/// Every microarchitecture whose events are known.\n");
    text.push_str("pub(super) const TABLE: &[Microarchitecture] = &[\n");
    let mut used = BTreeSet::new();
    let mut cpus: Vec<&str> = rows.iter().map(|row| row.cpu.as_str()).collect();
    cpus.dedup();
    for cpu in cpus {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.cpu == cpu).collect();
        write_cpu(&mut text, &rows, answers, &misses, &mut used)?;
    }
    text.push_str("];\n");
    if let Some(row) = rows.iter().find(|row| !used.contains(row.event.as_str())) {
        bail!("{EVENTS}: no answer of {QUESTIONS} uses {}", row.event);
    }
    Ok(text)
}

fn write_cpu<'a>(
    text: &mut String,
    rows: &[&'a Row],
    answers: &[Answer],
    misses: &[&str],
    used: &mut BTreeSet<&'a str>,
) -> Result<()> {
    let first = rows.first().context("a CPU without events")?;
    let (family, models) = models(&first.model)?;
    writeln!(text, "    Microarchitecture {{")?;
    writeln!(text, "        abbreviation: {:?},", first.cpu)?;
    writeln!(text, "        name: {:?},", first.name)?;
    writeln!(text, "        family: {family},")?;
    writeln!(
        text,
        "        models: &[\n            {},\n        ],",
        models.join(",\n            ")
    )?;
    writeln!(text, "        source: {:?},\n        events: &[", first.source)?;
    let mut answered = BTreeSet::new();
    for Answer { question, events, misses: missed } in answers {
        let find = |name: &String| rows.iter().find(|row| row.event == *name).copied();
        let Some(found) = events.iter().map(find).collect::<Option<Vec<&Row>>>() else { continue };
        used.extend(found.iter().map(|row| row.event.as_str()));
        if !answered.insert(question) {
            continue;
        }
        let [one, ..] = found[..] else { bail!("{question}: an answer without events") };
        let like =
            |row: &&Row| (row.code, row.cmask, row.counters) == (one.code, one.cmask, one.counters);
        ensure!(found.iter().all(like), "{}: {question}: events of several counters", one.cpu);
        let umask = found.iter().fold(0, |bits, row| bits | row.umask);
        let names: Vec<String> = found.iter().map(|row| row.event.clone()).collect();
        let scope = if one.is_per_core { "Core" } else { "Thread" };
        let missed = misses.binary_search(&missed.as_str()).expect("the list has all sentences");
        let [with, without] = one.counters;
        writeln!(
            text,
            "            Event {{ question: Question::{}, scope: Scope::{scope}, \
             misses: MISSES[{missed}],
                event: {:#04x}, umask: {umask:#04x}, cmask: {}, \
             counters: [{with:#04x}, {without:#04x}], names: &[
                \"{}\"] }},",
            variant(question),
            one.code,
            one.cmask,
            names.join("\",\n                \"")
        )?;
    }
    writeln!(text, "        ],\n    }},")?;
    Ok(())
}

/// A string of Rust over lines of 100 columns at most.
fn quoted(sentence: &str, indent: &str) -> String {
    const COLUMNS: usize = 96;
    let mut text = format!("{indent}\"");
    let mut column = text.len();
    for (number, word) in sentence.split(' ').enumerate() {
        if number > 0 && column + 1 + word.len() > COLUMNS {
            text.push_str(&format!(" \\\n{indent}"));
            column = indent.len();
        } else if number > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word.replace('"', "\\\""));
        column += word.len();
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "\
cpu,name,model,event,event_code,umask,cmask,counters_ht_on,counters_ht_off,scope,source
SKX,Skylake,06_55 stepping 0-4,A,0xc7,0x10,0,\"0,1\",\"0,1,2\",per-thread,list
SKX,Skylake,06_55 stepping 0-4,B,0xc7,0x20,0,\"0,1\",\"0,1,2\",per-thread,list
";

    fn written(events: &str, questions: &str) -> Result<String> {
        write_table(&rows(events)?, &answers(questions)?)
    }

    fn answer(question: &str, events: &str) -> String {
        format!("[[answer]]\nquestion = \"{question}\"\nevents = {events}\nmisses = \"all\"\n")
    }

    #[test]
    fn unit_masks_of_an_answer_are_combined_and_the_first_answer_counts() {
        let questions = answer("fp-256", "[\"A\", \"B\"]") + &answer("fp-256", "[\"A\"]");
        let text = written(EVENTS, &questions).unwrap();
        assert_eq!(text.matches("Event { ").count(), 1);
        assert!(text.contains("event: 0xc7, umask: 0x30, cmask: 0,"), "{text}");
        assert!(text.contains("counters: [0x03, 0x07]"));
        assert!(text.contains("question: Question::Fp256"));
    }

    #[test]
    fn events_of_different_codes_and_unused_rows_are_refused() {
        let questions = answer("fp-256", "[\"A\"]");
        assert!(written(EVENTS, &questions).unwrap_err().to_string().contains("uses B"));
        let other = EVENTS.replace("B,0xc7", "B,0xc8");
        assert!(written(&other, &answer("fp-256", "[\"A\", \"B\"]")).is_err());
        assert!(written(&EVENTS.replace("0x20", "0x2g"), &questions).is_err());
    }

    #[test]
    fn a_question_names_a_variant() {
        assert_eq!(variant("stalls-l2-miss"), "StallsL2Miss");
        assert_eq!(variant("fp16-256"), "Fp16x256");
    }

    #[test]
    fn models_and_steppings_are_read() {
        let (family, models) = models("06_6A/06_6C").unwrap();
        assert_eq!((family, models.len()), (6, 2));
        assert_eq!(models[1], "Model { number: 0x6c, steppings: (0, 15) }");
        let (_, stepping) = super::models("06_55 stepping 5-B").unwrap();
        assert_eq!(stepping, ["Model { number: 0x55, steppings: (5, 11) }"]);
        assert!(super::models("06").is_err());
    }

    #[test]
    fn a_long_sentence_goes_over_lines() {
        let text = quoted(&"word ".repeat(40), "    ");
        assert!(text.lines().count() > 1 && text.lines().all(|line| line.len() <= 100));
    }
}
