//! Sections `license`, `widen` and `rise`: how long things take.

use super::super::node::{Fields, Node, Read};
use super::super::{Levels, LicenseTimes, RiseRule, StageKind, StageRule, Widen};
use super::{ENTRIES_MAX, by_level, level};
use crate::{LicenseDomain, STAGES_MAX};

/// Longest stage or hold a table may hold: a second.
const NS_MAX: u32 = 1_000_000_000;

pub(in super::super) fn license(node: &Node<'_>, levels: &Levels) -> Read<LicenseTimes> {
    let fields = node.fields(&["source", "domain", "few_cores", "fall_halt_us", "hold_us"])?;
    let source = fields.source()?;
    let domains = [("core", LicenseDomain::Core), ("package", LicenseDomain::Package)];
    let domain = fields.get("domain").map(|node| node.one_of(&domains)).transpose()?;
    let few_cores = fields.get("few_cores").map(|node| node.whole(0, 1024)).transpose()?;
    let fall = fields.get("fall_halt_us").map(|node| node.thousandths(0, NS_MAX)).transpose()?;
    let mut hold_ns = vec![None];
    let held = &levels.names[1..];
    match fields.get("hold_us") {
        Some(map) => hold_ns.extend(by_level(&map, held, |node| node.thousandths(0, NS_MAX))?),
        None => hold_ns.resize(levels.names.len(), None),
    }
    Ok(LicenseTimes {
        domain,
        few_cores: few_cores.unwrap_or(0),
        fall_halt_ns: fall,
        hold_ns,
        source,
    })
}

/// `us`, and `few_us` where few active cores make a difference.
fn durations(fields: &Fields<'_>, few: bool) -> Read<(u32, u32)> {
    let duration_ns = fields.need("us")?.thousandths(0, NS_MAX)?;
    let Some(node) = fields.get("few_us") else { return Ok((duration_ns, duration_ns)) };
    if !few {
        return Err(node.bad(
            "found a duration for few active cores, expected license.few_cores \
                             to say how many are few",
        ));
    }
    Ok((duration_ns, node.thousandths(0, NS_MAX)?))
}

/// `rate` of a throttle, in permille: neither a halt nor full speed.
fn throttle_rate(fields: &Fields<'_>) -> Read<u16> {
    Ok(fields.need("rate")?.thousandths(1, 999)? as u16)
}

pub(in super::super) fn widen(node: &Node<'_>, few: bool) -> Read<Widen> {
    let fields = node.fields(&["source", "us", "few_us", "rate", "hold_us"])?;
    let source = fields.source()?;
    let (duration_ns, duration_few_ns) = durations(&fields, few)?;
    let rate_permille =
        if duration_ns > 0 || duration_few_ns > 0 { throttle_rate(&fields)? } else { 0 };
    let hold_ns = fields.need("hold_us")?.thousandths(0, NS_MAX)?;
    Ok(Widen { duration_ns, duration_few_ns, rate_permille, hold_ns, source })
}

pub(in super::super) fn rises(node: &Node<'_>, levels: &Levels, few: bool) -> Read<Vec<RiseRule>> {
    let mut rises: Vec<RiseRule> = Vec::new();
    for item in node.items(ENTRIES_MAX)? {
        let rise = rise(&item, levels, few)?;
        let same = |other: &RiseRule| {
            (other.from, other.to, other.heavy) == (rise.from, rise.to, rise.heavy)
        };
        if rises.iter().any(same) {
            return Err(item.bad("found this rise again, expected each rise once"));
        }
        rises.push(rise);
    }
    Ok(rises)
}

fn rise(node: &Node<'_>, levels: &Levels, few: bool) -> Read<RiseRule> {
    let fields = node.fields(&["source", "from", "to", "heavy", "stages"])?;
    let source = fields.source()?;
    let from = fields.get("from").map(|node| level(&node, levels)).transpose()?;
    let target = fields.need("to")?;
    let to = level(&target, levels)?;
    if to <= from.unwrap_or(0) {
        return Err(target.bad(format_args!(
            "found level {}, expected a slower level than the rise starts from",
            levels.names[usize::from(to)]
        )));
    }
    let heavy = fields.get("heavy").map(|node| node.flag()).transpose()?;
    let list = fields.need("stages")?;
    let stages = list
        .items(STAGES_MAX)?
        .iter()
        .map(|item| stage(item, levels, few, from, to))
        .collect::<Read<_>>()?;
    Ok(RiseRule { from, to, heavy, stages, source })
}

fn stage(node: &Node<'_>, levels: &Levels, few: bool, from: Option<u8>, to: u8) -> Read<StageRule> {
    let fields = node.fields(&["kind", "us", "few_us", "rate", "level"])?;
    let kinds = [StageKind::ThrottleA, StageKind::ThrottleB, StageKind::Halt];
    let kind = fields.need("kind")?.one_of(&kinds.map(|kind| (kind.name(), kind)))?;
    let (duration_ns, duration_few_ns) = durations(&fields, few)?;
    let rate_permille = match (kind, fields.get("rate")) {
        (StageKind::Halt, None) => 0,
        (StageKind::Halt, Some(rate)) => {
            return Err(rate.bad("found a rate, expected none for a halt"));
        }
        _ => throttle_rate(&fields)?,
    };
    let in_force = fields.get("level").map(|node| (level(&node, levels), node));
    let level = match in_force {
        None => None,
        Some((found, node)) => {
            let found = found?;
            if from.is_none_or(|from| found < from) || found > to {
                return Err(node.bad(format_args!(
                    "found level {}, expected one between the rise's `from`, which must be \
                     given, and its `to`",
                    levels.names[usize::from(found)]
                )));
            }
            Some(found)
        }
    };
    Ok(StageRule { kind, duration_ns, duration_few_ns, rate_permille, level })
}
