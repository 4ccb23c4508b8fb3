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
    Enqueued, "enqueued", "A task was enqueued in a queue of its cache domain.";
    EnqueuedPinned, "enqueued_pinned", "A pinned task was enqueued in the queue of its CPU.";
    DirectDispatches, "direct_dispatches",
        "A pinned task was dispatched directly to its CPU, since no task waited there.";
    KernelThread, "kernel_thread", "A kernel thread was dispatched directly.";
    Preempted, "preempted", "A running task was preempted by a task with less virtual runtime.";
    Kept, "kept", "A task went on after its slice: no waiting task had less virtual runtime.";
    Dispatched, "dispatched", "A CPU dispatched the task with the least virtual runtime.";
    DispatchedOtherCache, "dispatched_other_cache",
        "A CPU without tasks dispatched a task of another cache domain.";
    HeadGone, "head_gone",
        "The task with the least virtual runtime had been dispatched by another CPU meanwhile.";
    Starved, "starved", "A starved task was moved to the queue that is served first.";
    Yielded, "yielded", "A task yielded.";
    NoMemory, "no_memory", "A task came to a CPU that was not present at the start.";
    Evidence, "evidence", "A slice showed wide instructions.";
    Lost, "lost", "A slice lost time to the licenses of other tasks.";
    Refunded, "refunded", "A slice got a refund.";
    RefundedNs, "refunded_ns", "Sum of the refunds, in ns.";
    BilledNs, "billed_ns", "Part of the refunds that was billed to culprits, in ns.";
    NoCulprit, "no_culprit", "A slice lost time and got no refund: no task could be billed.";
    DecisionsLost, "decisions_lost",
        "A decision was not recorded, since the ring buffer was full.";
    Placed, "placed", "A waking task was dispatched to an idle CPU whose core suits its level.";
    Swapped, "swapped", "A task was swapped to a CPU of a core with its level.";
    IdleCompensationNs, "idle_compensation_ns",
        "Time lost that idle compensation is to repay, in ns.";
    ForcedIdles, "forced_idles",
        "A CPU was forced idle, to repay the deficit of a task on its sibling.";
    ForcedIdleNs, "forced_idle_ns", "Time for which CPUs were forced idle, in ns.";
    ForcedSwitchOuts, "forced_switch_outs",
        "A task had a forced switch-out, so that its registers were saved.";
    Reenqueued, "reenqueued",
        "Tasks were enqueued again, since a task of a higher class, as a real-time one, has a CPU.";
    Pushed, "pushed",
        "A task worth more than one CPU migrated, so that a task that waits gets its CPU.";
    WidePhases, "wide_phases", "A task that counted as narrow showed 512-bit instructions.";
    EndedByCall, "ended_by_call", "A system call ended a wide phase.";
    CoreChanges, "core_changes", "A core became wide or narrow.";
    Misplaced, "misplaced", "A task that counted as wide began a slice on a narrow core.";
    MisplacedNs, "misplaced_ns",
        "Time of slices with 512-bit instructions on narrow cores, as far as it was seen, in ns.";
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
        format!("EK_{}", in_snake_case(counter).to_uppercase())
    }

    /// `woke_idle` of `WokeIdle`.
    fn in_snake_case(counter: Counter) -> String {
        let mut name = String::new();
        for letter in format!("{counter:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }

    /// A statistic has the same name for users as in the code.
    #[test]
    fn statistics_are_named_as_their_constants() {
        assert_eq!(Counter::ALL.map(Counter::name).to_vec(), Counter::ALL.map(in_snake_case));
    }

    /// Users have these names in files and scripts: a change of one belongs into the changelog.
    #[test]
    fn statistics_keep_their_names() {
        let names = Counter::ALL.map(Counter::name).join(" ");
        assert_eq!(
            names,
            "woke_idle enqueued enqueued_pinned direct_dispatches kernel_thread preempted kept \
             dispatched dispatched_other_cache head_gone starved yielded no_memory evidence lost \
             refunded refunded_ns billed_ns no_culprit decisions_lost placed swapped \
             idle_compensation_ns forced_idles forced_idle_ns forced_switch_outs reenqueued pushed \
             wide_phases ended_by_call core_changes misplaced misplaced_ns"
        );
    }
}
