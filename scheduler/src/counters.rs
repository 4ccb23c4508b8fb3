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
    WokeIdle, "woke_idle", "A waking task was dispatched directly to an idle CPU.";
    Enqueued, "queued", "A task was enqueued in a queue of its cache domain.";
    EnqueuedPinned, "pinned", "A pinned task was enqueued in the queue of its CPU.";
    DirectDispatch, "straight",
        "A pinned task was dispatched directly to its CPU, since no task waited there.";
    KernelThread, "kernel_thread", "A kernel thread was dispatched directly.";
    Preempted, "preempted", "A running task was preempted by a task with less virtual runtime.";
    Kept, "kept", "A task went on after its slice: no waiting task had less virtual runtime.";
    Dispatched, "took", "A CPU dispatched the task with the least virtual runtime.";
    DispatchedOtherCache, "took_other_cache",
        "A CPU without tasks dispatched a task of another cache domain.";
    HeadGone, "passed_over",
        "The task with the least virtual runtime had been dispatched by another CPU meanwhile.";
    Starved, "aged", "A starved task was moved to the queue that is served first.";
    Yielded, "yielded", "A task yielded.";
    NoMemory, "no_memory", "A task came to a CPU that was not present at the start.";
    Evidence, "evidence", "A slice showed wide instructions.";
    Lost, "lost", "A slice lost time to the licenses of other tasks.";
    Refunded, "refunded", "A slice got a refund.";
    RefundedNs, "refunded_ns", "Sum of the refunds, in ns.";
    BilledNs, "billed_ns", "Part of the refunds that was billed to culprits, in ns.";
    NobodyToBill, "nobody_to_bill", "A slice lost time and got no refund: no task could be billed.";
    DecisionsLost, "untold", "A decision was not recorded, since the ring buffer was full.";
    Placed, "placed", "A waking task was dispatched to an idle CPU whose core suits its level.";
    Swapped, "swapped", "A task was swapped to a CPU of a core with its level.";
    IdleCompensationNs, "in_kind_ns", "Time lost that idle compensation is to repay, in ns.";
    ForcedIdles, "quiet", "A CPU was forced idle, to repay the deficit of a task on its sibling.";
    ForcedIdleNs, "quiet_ns", "Time for which CPUs were forced idle, in ns.";
    ForcedSwitchOuts, "aired", "A task had a forced switch-out, so that its registers were saved.";
    Reenqueued, "taken",
        "Tasks were enqueued again, since a task of a higher class, as a real-time one, has a CPU.";
    Pushed, "pushed",
        "A task worth more than one CPU migrated, so that a task that waits gets its CPU.";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants of the C header, in order: `EK_WOKE_IDLE` is `WokeIdle`.
    #[test]
    fn the_program_has_the_same_counters() {
        let header = include_str!("bpf/interface.h");
        let list = header.split_once("enum ek_counter {").unwrap().1.split_once('}').unwrap().0;
        let constants: Vec<_> =
            list.split([',', '\n']).map(str::trim).filter(|line| line.starts_with("EK_")).collect();
        let (last, counted) = constants.split_last().unwrap();
        assert_eq!(*last, "EK_COUNTERS");
        assert_eq!(counted, Counter::ALL.map(constant));
    }

    /// `EK_WOKE_IDLE` of `WokeIdle`.
    fn constant(counter: Counter) -> String {
        let mut name = String::from("EK");
        for letter in format!("{counter:?}").chars() {
            if letter.is_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_uppercase());
        }
        name
    }

    /// Users have these names in files and scripts: renaming a counter does not change its name in
    /// statistics.
    #[test]
    fn statistics_keep_their_names() {
        let names = Counter::ALL.map(Counter::name).join(" ");
        assert_eq!(
            names,
            "woke_idle queued pinned straight kernel_thread preempted kept took took_other_cache \
             passed_over aged yielded no_memory evidence lost refunded refunded_ns billed_ns \
             nobody_to_bill untold placed swapped in_kind_ns quiet quiet_ns aired taken \
             pushed"
        );
    }
}
