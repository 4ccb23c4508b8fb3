//! The list of all settings, which `--help-experiments` prints.

use std::fmt::Write;

use clap::{Arg, CommandFactory};

use super::Known;

const INTRODUCTION: &str = "\
Settings of experiments, for compare, mixes, profile and simulate:
--set KEY=VALUE, as often as needed. Of several values for one key the last
holds. Any other key is a parameter of the scenario, of those in its section
`parameters`.
";
/// Columns of the list.
const WIDTH: usize = 80;
const INDENT: &str = "      ";

/// Every key with its values, its default and its meaning, by group.
pub fn list() -> String {
    let command = Known::command();
    let mut text = INTRODUCTION.to_owned();
    let mut group = None;
    for argument in command.get_arguments() {
        if argument.get_help_heading() != group {
            group = argument.get_help_heading();
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}:\n", group.unwrap_or_default());
        }
        let _ = writeln!(text, "  {}", assignment(argument));
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        for line in wrapped(&help, WIDTH - INDENT.len()) {
            let _ = writeln!(text, "{INDENT}{line}");
        }
    }
    text
}

/// Such as `hz=N [default: 250]`, with the names of the values of an enumeration.
fn assignment(argument: &Arg) -> String {
    let names: Vec<String> =
        argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let values = match argument.get_value_names() {
        _ if !names.is_empty() => names.join("|"),
        Some([name, ..]) => name.to_string(),
        _ => "VALUE".to_owned(),
    };
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let default = if defaults.is_empty() {
        String::new()
    } else {
        format!(" [default: {}]", defaults.join(","))
    };
    format!("{}={values}{default}", argument.get_long().unwrap_or_default())
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_listed_with_its_values_and_default() {
        let text = list();
        for line in [
            "  hz=N [default: 250]",
            "  kernel=6.1|6.12|6.18 [default: 6.12]",
            "  ideal=true|false [default: false]",
            "  table-error=PERMILLE [default: 0]",
            "  marks=FILE",
            "  shown=FROM..TO [default: 0..0.4]",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}
