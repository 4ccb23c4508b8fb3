//! Where do the threads of a team go? Pure (OpenMP 5.2, section 10.1.3).

use crate::environment::Bind;

/// Consecutive places, over which the teams of a task are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    pub first: u32,
    pub number: u32,
}

/// The data that decide where the threads of a team go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub how: Bind,
    pub threads: u32,
    /// The place of the primary thread, which stays.
    pub primary: u32,
    /// Of the task that began the region.
    pub partition: Partition,
}

/// Which of `parts` consecutive runs of `all`, whose sizes differ by one at most, `index` is in.
fn run_of(index: u32, all: u32, parts: u32) -> u32 {
    let (size, larger) = (all / parts, all % parts);
    let in_larger = larger * (size + 1);
    if index < in_larger { index / (size + 1) } else { larger + (index - in_larger) / size }
}

/// Where one of these runs begins; the one behind the last begins at the end.
fn begin_of(run: u32, all: u32, parts: u32) -> u32 {
    run * (all / parts) + run.min(all % parts)
}

impl Binding {
    /// The place of a thread, and the places that its own teams are spread over.
    pub(crate) fn of(self, thread: u32) -> (u32, Partition) {
        let Self { how, threads, primary, partition } = self;
        let Partition { first, number: places } = partition;
        let from_primary = |places_on: u32| first + (primary - first + places_on) % places;
        let is_crowded = threads > places;
        let near =
            || from_primary(if is_crowded { run_of(thread, threads, places) } else { thread });
        match how {
            Bind::False | Bind::Primary => (primary, partition),
            Bind::True | Bind::Close => (near(), partition),
            Bind::Spread if is_crowded => (near(), Partition { first: near(), number: 1 }),
            Bind::Spread => {
                let run = (run_of(primary - first, places, threads) + thread) % threads;
                let begin = begin_of(run, places, threads);
                let number = begin_of(run + 1, places, threads) - begin;
                let place = if thread == 0 { primary } else { first + begin };
                (place, Partition { first: first + begin, number })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(how: Bind, threads: u32, primary: u32, partition: (u32, u32)) -> Vec<u32> {
        let partition = Partition { first: partition.0, number: partition.1 };
        let binding = Binding { how, threads, primary, partition };
        (0..threads).map(|thread| binding.of(thread).0).collect()
    }

    /// The examples of OpenMP 5.2's examples, "Affinity": eight places, the first thread at 0.
    #[test]
    fn eight_places_are_used_as_the_standards_examples_say() {
        assert_eq!(places(Bind::Spread, 4, 0, (0, 8)), [0, 2, 4, 6]);
        assert_eq!(places(Bind::Close, 4, 0, (0, 8)), [0, 1, 2, 3]);
        assert_eq!(places(Bind::Primary, 4, 0, (0, 8)), [0, 0, 0, 0]);
        let crowded = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7];
        assert_eq!(places(Bind::Spread, 16, 0, (0, 8)), crowded);
        assert_eq!(places(Bind::Close, 16, 0, (0, 8)), crowded);
    }

    #[test]
    fn threads_wrap_around_the_places_after_that_of_the_primary_thread() {
        assert_eq!(places(Bind::Close, 4, 6, (0, 8)), [6, 7, 0, 1]);
        assert_eq!(places(Bind::Spread, 4, 3, (0, 8)), [3, 4, 6, 0]);
        assert_eq!(places(Bind::Close, 3, 5, (4, 2)), [5, 5, 4]);
    }

    #[test]
    fn spread_threads_divide_the_places_among_their_own_teams() {
        let partition = Partition { first: 2, number: 5 };
        let binding = Binding { how: Bind::Spread, threads: 2, primary: 3, partition };
        assert_eq!(binding.of(0), (3, Partition { first: 2, number: 3 }));
        assert_eq!(binding.of(1), (5, Partition { first: 5, number: 2 }));
        let close = Binding { how: Bind::Close, ..binding };
        assert_eq!(close.of(1), (4, partition));
    }

    #[test]
    fn every_thread_is_in_its_own_partition_and_that_in_the_teams() {
        for (places, threads, primary) in
            (1..9).flat_map(|p| (1..20).flat_map(move |t| (0..p).map(move |q| (p, t, q))))
        {
            for how in [Bind::Primary, Bind::Close, Bind::Spread] {
                let partition = Partition { first: 10, number: places };
                let binding = Binding { how, threads, primary: 10 + primary, partition };
                let mut used = vec![0; places as usize];
                for thread in 0..threads {
                    let (place, own) = binding.of(thread);
                    let end = own.first + own.number;
                    assert!(own.first <= place && place < end, "{binding:?} {thread}");
                    assert!(own.first >= 10 && end <= 10 + places, "{binding:?} {thread}");
                    used[place as usize - 10] += 1;
                }
                assert_eq!(binding.of(0).0, 10 + primary);
                let most = threads.div_ceil(places);
                let is_even = used.iter().all(|&threads| threads <= most);
                assert!(how == Bind::Primary || is_even, "{binding:?} {used:?}");
            }
        }
    }
}
