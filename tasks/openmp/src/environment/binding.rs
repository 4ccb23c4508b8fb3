//! How threads are bound: the values of `OMP_PROC_BIND` and `KMP_AFFINITY`.

use super::Bind;
use super::places::Unit;
use super::value::{list, word};

/// `OMP_PROC_BIND`: one word for all levels of nesting, or one for each.
pub(super) fn bind(text: &str) -> Option<Vec<Bind>> {
    let whole = [("true", Bind::True), ("false", Bind::False)];
    let each = [
        ("primary", Bind::Primary),
        ("master", Bind::Primary),
        ("close", Bind::Close),
        ("spread", Bind::Spread),
    ];
    let alone = word(text, &whole).map(|bind| vec![bind]);
    alone.or_else(|| list(text, |text| word(text, &each)))
}

/// `KMP_AFFINITY`: the type of affinity and the unit of a place, among modifiers:
/// `granularity=fine,compact,1,0`. A place is a core by default, as in libomp.
pub(super) fn kmp_affinity(text: &str) -> Option<(Bind, Unit)> {
    let kinds = [
        ("none", Bind::False),
        ("disabled", Bind::False),
        ("compact", Bind::Close),
        ("scatter", Bind::Spread),
        ("balanced", Bind::Spread),
    ];
    let units = [
        ("fine", Unit::Threads),
        ("thread", Unit::Threads),
        ("core", Unit::Cores),
        ("ll_cache", Unit::LastLevelCaches),
        ("node", Unit::NumaDomains),
        ("numa_domain", Unit::NumaDomains),
        ("package", Unit::Sockets),
        ("socket", Unit::Sockets),
    ];
    let kind = text.split(',').find_map(|text| word(text.trim(), &kinds))?;
    let asked = text.split(',').find_map(|text| {
        let (name, unit) = text.split_once('=')?;
        word(name.trim(), &[("granularity", ())])?;
        word(unit.trim(), &units)
    });
    Some((kind, asked.unwrap_or(Unit::Cores)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binding_is_one_word_for_all_or_one_a_level() {
        assert_eq!(bind("Spread, close"), Some(vec![Bind::Spread, Bind::Close]));
        assert_eq!(bind("master"), Some(vec![Bind::Primary]));
        assert_eq!((bind("true,close"), bind("")), (None, None));
    }

    #[test]
    fn an_affinity_type_is_found_among_modifiers() {
        let fine = "granularity=fine,compact,1,0";
        assert_eq!(kmp_affinity(fine), Some((Bind::Close, Unit::Threads)));
        let sockets = "verbose, scatter, granularity = socket";
        assert_eq!(kmp_affinity(sockets), Some((Bind::Spread, Unit::Sockets)));
        assert_eq!(kmp_affinity("balanced"), Some((Bind::Spread, Unit::Cores)));
        assert_eq!(kmp_affinity("verbose"), None);
    }
}
