//! The counters of the BPF program: their numbers, names and descriptions.

macro_rules! counters {
    ($($variant:ident, $name:literal, $sentence:literal;)*) => {
        /// An event that the BPF program counts; `enum ek_counter`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter {
            $(#[doc = $sentence] $variant,)*
        }

        impl Counter {
            /// All, in the order of their numbers.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Its name in statistics.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The description of the counted event.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }
        }
    };
}

counters! {
    WokeIdle, "woke_idle", "A waking task found an idle CPU.";
    Queued, "queued", "A task went into the queue of a cache.";
    Pinned, "pinned", "A task went into the queue of the one CPU that it may use.";
    Straight, "straight", "A task went straight to the one CPU that it may use; none waited there.";
    KernelThread, "kernel_thread", "A thread of the kernel went to the front.";
    Preempted, "preempted", "A task that was ahead gave way to one that woke or waited.";
    Kept, "kept", "A task went on after its slice, since nobody had less virtual time.";
    Took, "took", "A CPU took the task with the least virtual time.";
    TookOtherCache, "took_other_cache", "A CPU with nothing to do took a task of another cache.";
    PassedOver, "passed_over",
        "The least could not be taken: another CPU was quicker, or it may not run there.";
    Aged, "aged", "A task had waited too long and went first.";
    Yielded, "yielded", "A task gave its CPU up.";
    NoMemory, "no_memory", "A task came to a CPU that was not there at the start.";
    Evidence, "evidence", "A slice showed wide instructions.";
    Lost, "lost", "A slice lost time to others' licenses.";
    Refunded, "refunded", "A slice got time back.";
    RefundedNs, "refunded_ns", "Time given back, in ns.";
    BilledNs, "billed_ns", "Of time given back what others were billed, in ns.";
    NobodyToBill, "nobody_to_bill", "A slice lost time, and there was nobody to bill.";
    Untold, "untold", "A slice did not fit into the ring buffer of decisions.";
    Placed, "placed", "A waking task took another idle CPU, whose core suits its level.";
    Swapped, "swapped", "A task changed its CPU for one where its level runs.";
    InKindNs, "in_kind_ns", "Time lost that is owed in kind, in ns.";
    Quiet, "quiet", "A CPU stayed quiet for a sibling that is owed time.";
    QuietNs, "quiet_ns", "For how long CPUs stayed quiet, in ns.";
    Aired, "aired", "A task left its CPU for a moment, so that its registers show.";
    Taken, "taken",
        "A task gave its CPU to one of a higher class, as a real-time task, and was queued again.";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counters of the C header, in order: `EK_WOKE_IDLE` is `woke_idle`.
    #[test]
    fn the_program_has_the_same_counters() {
        let header = include_str!("bpf/interface.h");
        let list = header.split_once("enum ek_counter {").unwrap().1.split_once('}').unwrap().0;
        let names: Vec<_> = list
            .split([',', '\n'])
            .filter_map(|line| line.trim().strip_prefix("EK_"))
            .map(str::to_lowercase)
            .collect();
        let (last, counted) = names.split_last().unwrap();
        assert_eq!(last, "counters");
        assert_eq!(counted, Counter::ALL.map(Counter::name));
    }
}
