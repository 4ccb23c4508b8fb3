//! Places: sets of CPUs that threads are bound to, where the environment says so.

mod binding;
mod machine;

use std::ffi::c_int;
use std::ops::Range;
use std::sync::OnceLock;

pub(crate) use binding::{Binding, Partition};

use crate::environment::{Bind, Places, Unit};
use crate::processors;
use crate::settings::settings;
use crate::unsupported::say;

/// In the place of a place's number: the thread is bound to none.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The places that were asked for, of the CPUs that the process may use. None where threads are
/// bound to nothing.
fn places() -> &'static [Vec<u32>] {
    static PLACES: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let settings = settings();
        let binds = settings.proc_bind.first().is_some_and(|&bind| bind != Bind::False);
        let asked = settings.places.as_ref().or(binds.then_some(&EACH_CPU));
        let places = asked.map(|places| on(places, processors::available())).unwrap_or_default();
        if asked.is_some() && places.is_empty() {
            say(b"evenkeel: no place has a CPU that this process may use; threads are not bound\n");
        }
        places
    })
}

/// The places of bound threads where the environment names none.
const EACH_CPU: Places = Places::Each { unit: Unit::Threads, count: None };

/// The places on these CPUs.
fn on(places: &Places, available: &[u32]) -> Vec<Vec<u32>> {
    match places {
        Places::Each { unit, count } => {
            let mut parts = machine::parts(*unit, available);
            parts.truncate(count.map_or(usize::MAX, |count| count as usize));
            parts
        }
        Places::Listed(listed) => {
            let there = |cpus: &Vec<u32>| -> Vec<u32> {
                cpus.iter().copied().filter(|cpu| available.contains(cpu)).collect()
            };
            listed.iter().map(there).filter(|cpus| !cpus.is_empty()).collect()
        }
    }
}

/// The number of places.
pub(crate) fn number() -> u32 {
    places().len() as u32
}

/// Whether the process has places to bind threads to.
pub(crate) fn are_there() -> bool {
    !places().is_empty()
}

impl Partition {
    /// All places.
    pub(crate) fn whole() -> Self {
        Self { first: 0, number: places().len() as u32 }
    }

    /// Their numbers.
    pub(crate) fn places(self) -> Range<u32> {
        self.first..self.first + self.number
    }
}

/// The CPUs of a place that threads are bound to.
pub(crate) fn cpus(place: u32) -> &'static [u32] {
    &places()[place as usize]
}

/// The `proc_bind` clause from the compiler's number; `None` without a clause.
pub(crate) fn clause(number: u32) -> Option<Bind> {
    match number {
        1 => Some(Bind::True),
        2 => Some(Bind::Primary),
        3 => Some(Bind::Close),
        4 => Some(Bind::Spread),
        _ => None,
    }
}

/// The CPUs of a place; empty for a number that no place has.
pub(crate) fn place(number: c_int) -> &'static [u32] {
    let place = usize::try_from(number).ok().and_then(|number| places().get(number));
    place.map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_only_cpus_that_there_are() {
        let listed = Places::Listed(vec![vec![0, 1], vec![2], vec![9]]);
        assert_eq!(on(&listed, &[1, 2, 3]), [[1], [2]]);
    }

    #[test]
    fn a_count_takes_the_first() {
        let two = Places::Each { unit: Unit::Threads, count: Some(2) };
        assert_eq!(on(&two, &[1, 4, 6]), [[1], [4]]);
        assert_eq!(on(&EACH_CPU, &[1, 4, 6]).len(), 3);
    }
}
