//! Which embedded table is that of a machine's CPU?

use super::embedded::embedded;

/// The model name in the text of `/proc/cpuinfo`.
#[must_use]
pub fn model_name(cpuinfo: &str) -> Option<&str> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim())
    })
}

/// The embedded table of a CPU: the table with a name whose words all stand in the model name, in
/// order; of several such tables, the one with most words.
#[must_use]
pub fn table_of(model_name: &str) -> Option<&'static str> {
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
    fn a_table_is_found_by_the_model_name() {
        for (name, table) in [
            ("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", Some("xeon-gold-6130")),
            ("Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz", Some("xeon-e5-2699-v3")),
            ("Intel(R) Core(TM) i9-7940X CPU @ 3.10GHz", Some("core-i9-7940x")),
            ("Intel(R) Xeon(R) W-2104 CPU @ 3.20GHz", Some("xeon-w-2104")),
            ("Intel(R) Xeon(R) Platinum 8480+", Some("xeon-platinum-8480-plus")),
            ("Intel(R) Xeon(R) Platinum 8480CL", None),
            ("Intel(R) Xeon(R) Gold 6130T CPU @ 2.10GHz", None),
            ("AMD EPYC 9B14 96-Core Processor", None),
            ("QEMU TCG CPU version 2.5+", None),
            ("", None),
        ] {
            assert_eq!(table_of(name), table, "{name}");
        }
    }

    #[test]
    fn the_model_name_is_that_of_the_first_cpu() {
        let said = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Gold: 1\nmodel name\t: Gold 2\n";
        assert_eq!(model_name(said), Some("Gold: 1"));
        assert_eq!(model_name("CPU part\t: 0xd0c\n"), None);
    }
}
