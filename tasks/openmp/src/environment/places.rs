//! `OMP_PLACES` and `GOMP_CPU_AFFINITY`: sets of CPUs that threads are bound to.
//!
//! The grammar is that of OpenMP 5.2, section 21.1.6.

/// A kind of parts of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Threads,
    Cores,
    LastLevelCaches,
    NumaDomains,
    Sockets,
}

/// The places that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// Parts of the machine: the first `count`, or all of them.
    Each { unit: Unit, count: Option<u32> },
    /// CPUs of each place.
    Listed(Vec<Vec<u32>>),
}

/// The highest number of CPUs that a variable may name: far more than Linux supports, so that a
/// typing error does not exhaust the memory.
const CPUS_MAX: u32 = 1 << 16;

/// A name with a number, or places.
pub(crate) fn parse(text: &str) -> Option<Places> {
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return named(text);
    }
    let mut listed: Vec<Vec<u32>> = Vec::new();
    for item in items(text)? {
        if let Some(excluded) = item.strip_prefix('!') {
            let excluded = place(excluded.trim())?;
            listed.retain(|place| *place != excluded);
            continue;
        }
        let end = item.find('}').map(|end| end + 1).or_else(|| item.find(':'));
        let (first, interval) = item.split_at(end.unwrap_or(item.len()));
        let first = place(first.trim())?;
        let (count, stride) = match interval.trim().strip_prefix(':') {
            Some(interval) => count_and_stride(interval)?,
            None if interval.trim().is_empty() => (1, 0),
            None => return None,
        };
        for index in 0..i64::from(count) {
            listed
                .push(first.iter().map(|&cpu| moved(cpu, index * stride)).collect::<Option<_>>()?);
        }
    }
    (!listed.is_empty() && listed.len() <= CPUS_MAX as usize).then_some(Places::Listed(listed))
}

fn named(text: &str) -> Option<Places> {
    let (name, count) = match text.split_once('(') {
        Some((name, rest)) => (name, Some(super::value::positive(rest.strip_suffix(')')?.trim())?)),
        None => (text, None),
    };
    let unit = match name.trim().to_ascii_lowercase().as_str() {
        "threads" => Unit::Threads,
        "cores" => Unit::Cores,
        "ll_caches" => Unit::LastLevelCaches,
        "numa_domains" => Unit::NumaDomains,
        "sockets" => Unit::Sockets,
        _ => return None,
    };
    Some(Places::Each { unit, count })
}

/// The items between commas outside of braces.
fn items(text: &str) -> Option<Vec<&str>> {
    let (mut items, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        if !(0..=1).contains(&depth) {
            return None;
        }
    }
    items.push(text[begin..].trim());
    (depth == 0).then_some(items)
}

/// `{…}`, or one CPU.
fn place(text: &str) -> Option<Vec<u32>> {
    let Some(inside) = text.strip_prefix('{') else { return Some(vec![cpu(text)?]) };
    let mut cpus: Vec<u32> = Vec::new();
    for item in inside.strip_suffix('}')?.split(',') {
        let item = item.trim();
        if let Some(excluded) = item.strip_prefix('!') {
            let excluded = cpu(excluded)?;
            cpus.retain(|&cpu| cpu != excluded);
            continue;
        }
        let (first, interval) = item.split_once(':').map_or((item, None), |(a, b)| (a, Some(b)));
        let first = cpu(first)?;
        let (count, stride) = interval.map_or(Some((1, 1)), count_and_stride)?;
        for index in 0..i64::from(count) {
            let cpu = moved(first, index * stride)?;
            if !cpus.contains(&cpu) {
                cpus.push(cpu);
            }
        }
    }
    (!cpus.is_empty()).then_some(cpus)
}

fn cpu(text: &str) -> Option<u32> {
    super::value::number(text.trim()).filter(|&cpu| cpu < CPUS_MAX)
}

fn moved(cpu: u32, by: i64) -> Option<u32> {
    u32::try_from(i64::from(cpu) + by).ok().filter(|&cpu| cpu < CPUS_MAX)
}

/// `COUNT` or `COUNT:STRIDE`; the stride is 1 by itself.
fn count_and_stride(text: &str) -> Option<(u32, i64)> {
    let (count, stride) = match text.split_once(':') {
        Some((count, text)) => (count, text.trim().parse::<i32>().ok()?.into()),
        None => (text, 1),
    };
    let count = super::value::positive(count.trim()).filter(|&count| count <= CPUS_MAX)?;
    Some((count, stride))
}

/// `GOMP_CPU_AFFINITY`: CPUs, ranges and ranges with a stride, each CPU a place.
pub(crate) fn cpu_list(text: &str) -> Option<Places> {
    let mut listed = Vec::new();
    for item in text.split([' ', ',', '\t']).filter(|item| !item.is_empty()) {
        let (range, stride) = item.split_once(':').map_or((item, "1"), |(a, b)| (a, b));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (cpu(first)?, cpu(last)?);
        let stride = super::value::positive(stride)? as usize;
        if last < first {
            return None;
        }
        listed.extend((first..=last).step_by(stride).map(|cpu| vec![cpu]));
    }
    (!listed.is_empty()).then_some(Places::Listed(listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Vec<Vec<u32>> {
        match parse(text) {
            Some(Places::Listed(places)) => places,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn names_may_say_how_many() {
        assert_eq!(parse("Cores"), Some(Places::Each { unit: Unit::Cores, count: None }));
        assert_eq!(parse("sockets(2)"), Some(Places::Each { unit: Unit::Sockets, count: Some(2) }));
        assert_eq!((parse("cores(0)"), parse("cores(2"), parse("chips")), (None, None, None));
    }

    /// OpenMP 5.2 has these as different notations of one list of places.
    #[test]
    fn intervals_stand_for_places_and_for_cpus() {
        let four = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]];
        assert_eq!(listed("{0,1,2,3},{4,5,6,7},{8,9,10,11},{12,13,14,15}"), four);
        assert_eq!(listed("{0:4},{4:4},{8:4},{12:4}"), four);
        assert_eq!(listed("{0:4}:4:4"), four);
        assert_eq!(listed(" { 0 : 4 } : 2 "), [[0, 1, 2, 3], [1, 2, 3, 4]]);
    }

    #[test]
    fn strides_go_down_too_and_exclamation_marks_take_out() {
        assert_eq!(listed("{6:3:-2}"), [[6, 4, 2]]);
        assert_eq!(listed("{0:4,!1}"), [[0, 2, 3]]);
        assert_eq!(listed("{0},{1},!{0}"), [[1]]);
        assert_eq!(listed("3:2:5"), [[3], [8]]);
    }

    #[test]
    fn invalid_places_are_refused() {
        for text in ["", "{", "{}", "{0:0}", "{0:3:-2}", "{0}}", "{0}x", "{{0}}", "{99999999}"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn gccs_list_makes_each_cpu_a_place() {
        let list = cpu_list("0 3 1-2 4-15:5");
        let cpus: Vec<Vec<u32>> = [0, 3, 1, 2, 4, 9, 14].map(|cpu| vec![cpu]).into();
        assert_eq!(list, Some(Places::Listed(cpus)));
        assert_eq!((cpu_list("3-1"), cpu_list("a"), cpu_list("")), (None, None, None));
    }
}
