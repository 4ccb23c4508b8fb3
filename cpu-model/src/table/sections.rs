//! The sections of a CPU table, each read and checked by itself.

mod timing;
mod turbo;

use super::node::{Node, Read};
use super::{Demands, Event, Events, Levels, Machine};
use crate::{Class, DemandRule, LEVELS_MAX};

pub(super) use timing::{license, rises, widen};
pub(super) use turbo::{low_priority, turbo, turbo_off};

/// Highest frequency a table may hold, in MHz.
const MHZ_MAX: u32 = 20_000;
/// Highest rate a rule may start from, in instructions per 1000 cycles.
const RATE_PERMILLE_MAX: u32 = 16_000;
/// Most rules, events or rises a table may hold.
const ENTRIES_MAX: usize = 128;

pub(super) fn machine(node: &Node<'_>) -> Read<Machine> {
    let fields = node.fields(&["source", "packages", "cores", "threads", "ref_mhz"])?;
    let number = |key, max| fields.get(key).map(|node| node.whole(1, max)).transpose();
    Ok(Machine {
        source: fields.source()?,
        packages: number("packages", 64)?,
        cores: number("cores", 1024)?,
        threads: number("threads", 2)?,
        ref_mhz: number("ref_mhz", MHZ_MAX)?,
    })
}

pub(super) fn levels(node: &Node<'_>) -> Read<Levels> {
    let fields = node.fields(&["source", "names"])?;
    let source = fields.source()?;
    let list = fields.need("names")?;
    let mut names: Vec<String> = Vec::new();
    for item in list.items(LEVELS_MAX)? {
        let name = item.word()?;
        if names.contains(&name) {
            return Err(item.bad(format_args!("found {name} again, expected each level once")));
        }
        names.push(name);
    }
    if names.is_empty() {
        return Err(list.bad(format_args!("found no level, expected 1 to {LEVELS_MAX}")));
    }
    Ok(Levels { names, source })
}

/// A value that names a level.
fn level(node: &Node<'_>, levels: &Levels) -> Read<u8> {
    let choices: Vec<(&str, u8)> =
        (0u8..).zip(&levels.names).map(|(i, n)| (n.as_str(), i)).collect();
    node.one_of(&choices)
}

/// A table from level names to values; levels that are not named have none.
fn by_level<T>(
    node: &Node<'_>,
    names: &[String],
    read: impl Fn(&Node<'_>) -> Read<T>,
) -> Read<Vec<Option<T>>> {
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let fields = node.fields(&known)?;
    known.iter().map(|name| fields.get(name).map(|value| read(&value)).transpose()).collect()
}

fn class(node: &Node<'_>) -> Read<Class> {
    node.one_of(&Class::ALL.map(|class| (class.name(), class)))
}

pub(super) fn demand(node: &Node<'_>, names: &Levels) -> Read<Demands> {
    let fields = node.fields(&["source", "rules", "unsupported"])?;
    let source = fields.source()?;
    let mut unsupported = Vec::new();
    if let Some(list) = fields.get("unsupported") {
        for item in list.items(Class::ALL.len())? {
            let class = class(&item)?;
            if class == Class::Scalar || unsupported.contains(&class) {
                return Err(item.bad(format_args!(
                    "found {class}, expected each class other than scalar at most once"
                )));
            }
            unsupported.push(class);
        }
    }
    let mut rules: Vec<DemandRule> = Vec::new();
    for item in fields.need("rules")?.items(ENTRIES_MAX)? {
        let rule = demand_rule(&item, names)?;
        if unsupported.contains(&rule.class) {
            return Err(item.bad(format_args!(
                "found a rule for {}, expected none for an unsupported class",
                rule.class
            )));
        }
        if let Some(other) = rules.iter().find(|other| contradicts(other, &rule)) {
            return Err(item.bad(format_args!(
                "found level {} for {} from rate {} on beside level {} from rate {} on, expected \
                 one rule a rate and a level that does not fall with the rate",
                names.names[usize::from(rule.level)],
                rule.class,
                f64::from(rule.rate_min_permille) / 1000.0,
                names.names[usize::from(other.level)],
                f64::from(other.rate_min_permille) / 1000.0,
            )));
        }
        rules.push(rule);
    }
    rules.sort_by_key(|rule| (rule.class, std::cmp::Reverse(rule.rate_min_permille)));
    Ok(Demands { rules, unsupported, source })
}

fn demand_rule(node: &Node<'_>, names: &Levels) -> Read<DemandRule> {
    let fields = node.fields(&["class", "level", "rate"])?;
    let rate = fields.get("rate").map(|node| node.thousandths(0, RATE_PERMILLE_MAX));
    Ok(DemandRule {
        class: class(&fields.need("class")?)?,
        level: level(&fields.need("level")?, names)?,
        rate_min_permille: rate.transpose()?.unwrap_or(0),
    })
}

fn contradicts(a: &DemandRule, b: &DemandRule) -> bool {
    let (low, high) = if a.rate_min_permille <= b.rate_min_permille { (a, b) } else { (b, a) };
    a.class == b.class && (a.rate_min_permille == b.rate_min_permille || low.level > high.level)
}

pub(super) fn events(node: &Node<'_>) -> Read<Events> {
    let fields = node.fields(&["source", "list"])?;
    let source = fields.source()?;
    let mut list: Vec<Event> = Vec::new();
    for item in fields.need("list")?.items(ENTRIES_MAX)? {
        let event = event(&item)?;
        if list.iter().any(|other| other.signal == event.signal) {
            return Err(item.bad(format_args!(
                "found signal {} again, expected each signal once",
                event.signal
            )));
        }
        list.push(event);
    }
    Ok(Events { list, source })
}

fn event(node: &Node<'_>) -> Read<Event> {
    let fields = node.fields(&["signal", "event", "umask", "cmask", "scope"])?;
    let cmask = fields.get("cmask").map(|node| node.whole(0, 0xff));
    Ok(Event {
        signal: fields.need("signal")?.word()?,
        event: fields.need("event")?.whole(0, 0xff)?,
        umask: fields.need("umask")?.whole(0, 0xffff)?,
        cmask: cmask.transpose()?.unwrap_or(0),
        per_core: fields.need("scope")?.one_of(&[("core", true), ("thread", false)])?,
    })
}
