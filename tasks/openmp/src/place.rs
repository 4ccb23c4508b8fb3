//! Places: sets of CPUs that threads are bound to, where the environment says so.

mod binding;
mod machine;

use std::ffi::c_int;
use std::ops::Range;
use std::sync::OnceLock;

pub(crate) use binding::{Binding, Partition};

use crate::environment::{Bind, Places, Unit};
use crate::icv::Icvs;
use crate::processors;
use crate::region::Member;
use crate::settings::settings;
use crate::thread::{Thread, member};
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

/// Where threads are bound, and nobody says to what.
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

/// Whether there are places to bind threads to.
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

/// Binds a thread to a place, unless it is bound to that.
pub(crate) fn go(thread: &Thread, place: u32) {
    if thread.place.replace(place) != place {
        processors::allow(cpus(place));
    }
}

/// A thread asks where it is. The process's first one is bound, where threads are, as it would be
/// where it begins a region; not when the library is loaded, since one that is preloaded is in
/// programs, too, that never call it, and those that they start would inherit the place.
pub(crate) fn find(thread: &Thread) {
    // SAFETY: both calls only ask.
    let is_first = unsafe { libc::gettid() == libc::getpid() };
    if is_first && Icvs::initial().bind != Bind::False {
        go_somewhere(thread);
    }
}

/// Binds a thread that begins regions, and is bound to no place, to the first.
fn go_somewhere(thread: &Thread) {
    if thread.place.get() == NOWHERE {
        go(thread, 0);
    }
}

/// Where the threads of a region go that this thread begins, where a clause may say something
/// else than its variables do; nothing if they may be anywhere.
#[inline]
pub(crate) fn binding(thread: &Thread, clause: Option<Bind>, threads: u32) -> Option<Binding> {
    let member = thread.member();
    let how = member.task().icvs.get().bind;
    if how == Bind::False {
        return None;
    }
    go_somewhere(thread);
    let (how, primary) = (clause.unwrap_or(how), thread.place.get());
    Some(Binding { how, threads, primary, partition: member.partition })
}

/// A clause's word on binding, by the number that compilers pass; nothing where there is none.
pub(crate) fn clause(number: u32) -> Option<Bind> {
    match number {
        1 => Some(Bind::True),
        2 => Some(Bind::Primary),
        3 => Some(Bind::Close),
        4 => Some(Bind::Spread),
        _ => None,
    }
}

/// The CPUs of a place; none if there is no such place.
pub(crate) fn place(number: c_int) -> &'static [u32] {
    let place = usize::try_from(number).ok().and_then(|number| places().get(number));
    place.map_or(&[], Vec::as_slice)
}

/// How many places there are.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_places() -> c_int {
    places().len() as c_int
}

/// How many CPUs a place has; 0 if there is no such place.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_place_num_procs(number: c_int) -> c_int {
    place(number).len() as c_int
}

/// Which CPUs these are.
///
/// # Safety
/// At `cpus` is room for as many as [`omp_get_place_num_procs`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_place_proc_ids(number: c_int, cpus: *mut c_int) {
    for (index, &cpu) in place(number).iter().enumerate() {
        // SAFETY: As the caller promises.
        unsafe { cpus.add(index).write(cpu as c_int) };
    }
}

/// How many places the running task's teams are spread over.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_partition_num_places() -> c_int {
    member().partition.number as c_int
}

/// Their numbers.
///
/// # Safety
/// At `numbers` is room for as many as [`omp_get_partition_num_places`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_partition_place_nums(numbers: *mut c_int) {
    for (index, number) in member().partition.places().enumerate() {
        // SAFETY: As the caller promises.
        unsafe { numbers.add(index).write(number as c_int) };
    }
}

/// The place that the calling thread is bound to; -1 where it is bound to none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_place_num() -> c_int {
    let thread = Thread::current();
    find(thread);
    // That of no place is -1 as a number with a sign.
    thread.place.get() as c_int
}

impl Member {
    /// The number of its thread in the region around; -1 if there is none.
    pub(crate) fn number_around(&self) -> c_int {
        // SAFETY: whoever began a region is in the one around until it ends.
        unsafe { self.region().around.as_ref() }.map_or(-1, |around| around.number as c_int)
    }
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
