//! Which places are there to bind threads to?

use std::ffi::c_int;
use std::sync::OnceLock;

use crate::environment::{Bind, Places, Unit};
use crate::{icv, processors};

/// The places that were asked for, of the CPUs that the process may use.
fn places() -> &'static [Vec<u32>] {
    static PLACES: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    PLACES.get_or_init(|| {
        let settings = icv::settings();
        let binds = settings.proc_bind.first().is_some_and(|&bind| bind != Bind::False);
        let places = settings.places.as_ref().or(binds.then_some(&EACH_CPU));
        places.map(|places| on(places, processors::available())).unwrap_or_default()
    })
}

/// Where threads are bound, and nobody says to what.
const EACH_CPU: Places = Places::Each { unit: Unit::Threads, count: None };

/// The places on these CPUs. Cores and whatever is larger are single CPUs, as long as nobody has
/// asked the machine which CPUs they have.
fn on(places: &Places, available: &[u32]) -> Vec<Vec<u32>> {
    match places {
        Places::Each { count, .. } => {
            let most = count.map_or(usize::MAX, |count| count as usize);
            available.iter().take(most).map(|&cpu| vec![cpu]).collect()
        }
        Places::Listed(listed) => {
            let there = |cpus: &Vec<u32>| -> Vec<u32> {
                cpus.iter().copied().filter(|cpu| available.contains(cpu)).collect()
            };
            listed.iter().map(there).filter(|cpus| !cpus.is_empty()).collect()
        }
    }
}

fn place(number: c_int) -> &'static [u32] {
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

/// How many places the calling task's teams are spread over: all.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_partition_num_places() -> c_int {
    omp_get_num_places()
}

/// Their numbers.
///
/// # Safety
/// At `numbers` is room for as many as [`omp_get_partition_num_places`] says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_partition_place_nums(numbers: *mut c_int) {
    for index in 0..places().len() {
        // SAFETY: As the caller promises.
        unsafe { numbers.add(index).write(index as c_int) };
    }
}

/// The place that the calling thread is bound to; -1 where it is bound to none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_place_num() -> c_int {
    if places().is_empty() {
        return -1;
    }
    let allowed = processors::allowed();
    let mine = |place: &Vec<u32>| {
        place.len() == allowed.len() && place.iter().all(|cpu| allowed.contains(cpu))
    };
    places().iter().position(mine).map_or(-1, |number| number as c_int)
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
