//! A CPU table as text: values, costs and sources.

use std::fmt::Write;

use cpu_model::{CpuTable, StageRule};

/// The table as text.
pub fn show(table: &CpuTable) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut text, table);
    text
}

fn write_all(text: &mut String, table: &CpuTable) -> std::fmt::Result {
    writeln!(text, "{} ({})\n{}", table.name, table.microarchitecture, table.description)?;
    let machine = &table.machine;
    let number = |value: Option<u32>| value.map_or_else(|| "?".to_owned(), |n| n.to_string());
    let count = |value: Option<u32>, what: &str| {
        format!("{} {what}{}", number(value), if value == Some(1) { "" } else { "s" })
    };
    writeln!(
        text,
        "\n{} of {} of {}, reference clock {} MHz",
        count(machine.packages, "package"),
        count(machine.cores, "core"),
        count(machine.threads, "thread"),
        number(machine.ref_mhz)
    )?;
    write_frequencies(text, table)?;
    write_demands(text, table)?;
    write_transitions(text, table)?;
    writeln!(text, "\nSources")?;
    for (section, source) in table.sources() {
        writeln!(text, "  {section:14} {source}")?;
    }
    let missing = table.missing();
    if !missing.is_empty() {
        writeln!(text, "\nMissing, and a run that needs it stops: {}", missing.join(", "))?;
    }
    Ok(())
}

fn write_frequencies(text: &mut String, table: &CpuTable) -> std::fmt::Result {
    let Some(turbo) = &table.turbo else { return Ok(()) };
    write!(text, "\nMHz by active cores")?;
    for name in &table.levels.names {
        write!(text, "{name:>15}")?;
    }
    writeln!(text)?;
    let rows =
        turbo.rows.iter().map(|row| (format!("{}-{}", row.cores_min, row.cores_max), &row.mhz));
    let off = table.turbo_off.iter().map(|off| ("turbo off".to_owned(), &off.mhz));
    let capped = table.low_priority.as_ref().map(|low| {
        let mhz: Vec<_> = low.mhz.iter().copied().map(Some).collect();
        (format!("last {} at most", low.cores), mhz)
    });
    let capped = capped.iter().map(|(name, mhz)| (name.clone(), mhz));
    for (name, mhz) in rows.chain(off).chain(capped) {
        write!(text, "{name:>19}")?;
        for value in mhz {
            let value = value.map_or_else(|| "?".to_owned(), |mhz| mhz.to_string());
            write!(text, "{value:>15}")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

fn write_demands(text: &mut String, table: &CpuTable) -> std::fmt::Result {
    let Some(demand) = &table.demand else { return Ok(()) };
    writeln!(text, "\nLevel demanded by class and rate (instructions a cycle, both siblings)")?;
    for rule in &demand.rules {
        let level = &table.levels.names[usize::from(rule.level)];
        let rate = f64::from(rule.rate_min_permille) / 1000.0;
        writeln!(text, "  {:14} from {rate:<5} {level}", rule.class.name())?;
    }
    for class in &demand.unsupported {
        writeln!(text, "  {:14} not on this CPU", class.name())?;
    }
    Ok(())
}

fn write_transitions(text: &mut String, table: &CpuTable) -> std::fmt::Result {
    if let Some(license) = &table.license {
        writeln!(text, "\nHold after the last demand, us")?;
        for (name, hold_ns) in table.levels.names.iter().zip(&license.hold_ns).skip(1) {
            let hold = hold_ns.map_or_else(|| "?".to_owned(), |ns| us(u64::from(ns)));
            writeln!(text, "  {name:14} {hold}")?;
        }
    }
    let transitions = table.transitions();
    if transitions.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nTransitions, us lost (few cores active), stages")?;
    for transition in transitions {
        let name = |level: u8| &table.levels.names[usize::from(level)];
        let kind = match transition.heavy {
            None => "any",
            Some(true) => "heavy",
            Some(false) => "light",
        };
        let stages: Vec<String> = transition.stages.iter().map(stage).collect();
        writeln!(
            text,
            "  {:>10} -> {:10} {kind:6} {:>6} ({:>5})  {}",
            name(transition.from),
            name(transition.to),
            us(transition.cost_ns),
            us(transition.cost_few_ns),
            stages.join(", ")
        )?;
    }
    Ok(())
}

fn stage(stage: &StageRule) -> String {
    format!("{} {} us", stage.kind.name(), us(u64::from(stage.duration_ns)))
}

fn us(ns: u64) -> String {
    format!("{}", ns as f64 / 1000.0)
}
