//! Cores and packages of the CPUs of this process, as CPUID on each of them reports.

use kernels::{Place, place};

use super::pinning::pin;
use crate::machine::Relation;

/// The place of each CPU; `None` where CPUID does not report one.
pub(super) fn places(cpus: &[u32]) -> Vec<Option<Place>> {
    let on = |&cpu: &u32| {
        let look = std::thread::spawn(move || pin(cpu).ok().and_then(|()| place()));
        look.join().ok().flatten()
    };
    cpus.iter().map(on).collect()
}

/// How two CPUs are related; as other cores of the package where the places are not told.
pub(super) fn relation(one: Option<Place>, other: Option<Place>) -> Relation {
    match (one, other) {
        (Some(one), Some(other)) if one.core == other.core => Relation::Sibling,
        (Some(one), Some(other)) if one.package != other.package => Relation::Elsewhere,
        _ => Relation::Package,
    }
}

/// The other CPUs, first one of each other core of the package, and how many these are.
pub(super) fn others(
    cpu: u32,
    cpus: &[u32],
    places: &[Option<Place>],
) -> (Vec<(u32, Relation)>, usize) {
    let own = cpus.iter().position(|&other| other == cpu).and_then(|index| places[index]);
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    let mut cores: Vec<u32> = Vec::new();
    for (&other, &place) in cpus.iter().zip(places).filter(|&(&other, _)| other != cpu) {
        let relation = relation(own, place);
        let is_new = place.is_none_or(|place| !cores.contains(&place.core));
        cores.extend(place.map(|place| place.core));
        let list = if relation == Relation::Package && is_new { &mut first } else { &mut rest };
        list.push((other, relation));
    }
    let other_cores = first.len();
    first.extend(rest);
    (first, other_cores)
}

/// Packages, cores of a package and threads of a core, at most two.
pub(super) fn counts(places: &[Option<Place>]) -> (u32, u32, u32) {
    let mut known: Vec<(u32, u32)> =
        places.iter().flatten().map(|place| (place.package, place.core)).collect();
    if known.len() < places.len() || known.is_empty() {
        return (1, places.len().max(1) as u32, 1);
    }
    known.sort_unstable();
    let cpus = known.len() as u32;
    known.dedup();
    let cores = known.len() as u32;
    let mut packages: Vec<u32> = known.iter().map(|&(package, _)| package).collect();
    packages.dedup();
    let packages = packages.len() as u32;
    (packages, cores.div_ceil(packages), cpus.div_ceil(cores).min(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(package: u32, core: u32) -> Option<Place> {
        Some(Place { package, core })
    }

    #[test]
    fn threads_cores_and_packages_are_counted() {
        let four = [at(0, 0), at(0, 0), at(0, 1), at(0, 1)];
        assert_eq!(counts(&four), (1, 2, 2));
        assert_eq!(counts(&[at(0, 0), at(1, 8)]), (2, 1, 1));
        assert_eq!(counts(&[None, None]), (1, 2, 1));
    }

    #[test]
    fn one_cpu_of_each_other_core_comes_first() {
        let places = [at(0, 0), at(0, 0), at(0, 1), at(0, 1), at(1, 2)];
        let (others, cores) = others(0, &[0, 1, 2, 3, 4], &places);
        let cpus: Vec<u32> = others.iter().map(|&(cpu, _)| cpu).collect();
        assert_eq!((cpus, cores), (vec![2, 1, 3, 4], 1));
    }

    #[test]
    fn relations_follow_core_and_package() {
        assert_eq!(relation(at(0, 1), at(0, 1)), Relation::Sibling);
        assert_eq!(relation(at(0, 1), at(0, 2)), Relation::Package);
        assert_eq!(relation(at(0, 1), at(1, 9)), Relation::Elsewhere);
        assert_eq!(relation(None, at(0, 1)), Relation::Package);
    }
}
