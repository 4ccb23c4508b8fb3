//! Which CPU table is this machine's?

use anyhow::Result;
use cpu_model::{CpuModel, embedded};

use crate::machine;

/// The CPU that was asked for, or this machine's; `None`: no table that lacks nothing is of this
/// machine's CPU.
pub fn find(asked: Option<&str>, cpuinfo: &str) -> Result<Option<CpuModel>> {
    match asked {
        Some(name) => machine::model(name, true).map(Some),
        None => {
            let table = model_name(cpuinfo).and_then(table_of);
            Ok(table.and_then(|name| machine::model(name, true).ok()))
        }
    }
}

/// The model name in the text of /proc/cpuinfo.
fn model_name(cpuinfo: &str) -> Option<&str> {
    let named = |line: &'_ str| line.starts_with("model name");
    cpuinfo.lines().find(|line| named(line))?.split_once(':').map(|(_, name)| name.trim())
}

/// The embedded table of which all words stand in the model name, in order; of several such tables
/// the one with most words.
fn table_of(model_name: &str) -> Option<&'static str> {
    let said = words(model_name);
    let fits = |name: &&str| {
        let mut rest = said.iter();
        words(name).iter().all(|word| rest.any(|other| other == word))
    };
    let names = embedded().iter().map(|&(name, _)| name);
    names.filter(fits).max_by_key(|name| words(name).len())
}

fn words(name: &str) -> Vec<String> {
    let plain = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    let plain = plain.replace('+', " plus ");
    let words = plain.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_model_name_unless_another_is_asked_for() {
        let cpuinfo = |name: &str| format!("processor\t: 0\nmodel name\t: {name}\n");
        let found = |asked, name: &str| find(asked, &cpuinfo(name)).unwrap().map(|cpu| cpu.name);
        let xeon = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz";
        assert_eq!(found(None, xeon).as_deref(), Some("xeon-gold-6130"));
        assert_eq!(found(Some("xeon-silver-4108"), xeon).as_deref(), Some("xeon-silver-4108"));
        let incomplete = "Intel(R) Core(TM) i9-7940X CPU @ 3.10GHz";
        assert_eq!(found(None, incomplete), None);
        assert_eq!(found(None, "AMD EPYC 9B14 96-Core Processor"), None);
        assert!(find(Some("nonsense"), "").is_err());
    }
}
