//! The events of a `trace.dat` file: their fields, and the formats in which readers print them.
//!
//! Names, fields and texts of the kernel's events are those that its tracefs shows (Linux 6.18);
//! names of tasks always have room for 16 bytes, as in `sched_switch`.

use std::fmt::Write;

/// A field: declaration, size in bytes, and signedness.
type Field = (&'static str, usize, bool);

/// An event.
pub struct Format {
    pub system: &'static str,
    pub name: &'static str,
    fields: &'static [Field],
    print: &'static str,
}

/// Number of the first event; the next numbers follow. ftrace itself has those below.
const FIRST_ID: u16 = 300;

/// Fields that every event has.
const COMMON: [Field; 4] = [
    ("unsigned short common_type", 2, false),
    ("unsigned char common_flags", 1, false),
    ("unsigned char common_preempt_count", 1, false),
    ("int common_pid", 4, true),
];

/// Last field of every event that stands for a record: the record's place in the history, which
/// says what came first on two CPUs at the same ns.
pub const ORDER: &str = "history_order";
const ORDER_FIELD: Field = ("u32 history_order", 4, false);

pub const SWITCH: usize = 0;
pub const WAKING: usize = 1;
pub const WAKEUP: usize = 2;
pub const FORK: usize = 3;
pub const MIGRATE: usize = 4;
pub const RUNTIME: usize = 5;
pub const FREQUENCY: usize = 6;
pub const REGISTERS: usize = 7;
pub const LICENSE: usize = 8;
pub const DECISION: usize = 9;
pub const PHASE: usize = 10;
pub const OVERHEAD: usize = 11;
pub const EDGE: usize = 12;

/// Fields of `sched_waking` and `sched_wakeup`.
const WOKEN_FIELDS: &[Field] = &[
    ("char comm[16]", 16, false),
    ("pid_t pid", 4, true),
    ("int prio", 4, true),
    ("int target_cpu", 4, true),
];
const WOKEN_PRINT: &str = "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, \
                           REC->prio, REC->target_cpu";

/// All events, those of one system together.
pub const FORMATS: [Format; 13] = [
    Format {
        system: "sched",
        name: "sched_switch",
        fields: &[
            ("char prev_comm[16]", 16, false),
            ("pid_t prev_pid", 4, true),
            ("int prev_prio", 4, true),
            ("long prev_state", 8, true),
            ("char next_comm[16]", 16, false),
            ("pid_t next_pid", 4, true),
            ("int next_prio", 4, true),
        ],
        print: "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s \
                next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, \
                __print_symbolic(REC->prev_state, { 0, \"R\" }, { 1, \"S\" }, { 16, \"X\" }), \
                REC->next_comm, REC->next_pid, REC->next_prio",
    },
    Format { system: "sched", name: "sched_waking", fields: WOKEN_FIELDS, print: WOKEN_PRINT },
    Format { system: "sched", name: "sched_wakeup", fields: WOKEN_FIELDS, print: WOKEN_PRINT },
    Format {
        system: "sched",
        name: "sched_process_fork",
        fields: &[
            ("char parent_comm[16]", 16, false),
            ("pid_t parent_pid", 4, true),
            ("char child_comm[16]", 16, false),
            ("pid_t child_pid", 4, true),
        ],
        print: "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, \
                REC->parent_pid, REC->child_comm, REC->child_pid",
    },
    Format {
        system: "sched",
        name: "sched_migrate_task",
        fields: &[
            ("char comm[16]", 16, false),
            ("pid_t pid", 4, true),
            ("int prio", 4, true),
            ("int orig_cpu", 4, true),
            ("int dest_cpu", 4, true),
        ],
        print: "\"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", REC->comm, REC->pid, \
                REC->prio, REC->orig_cpu, REC->dest_cpu",
    },
    Format {
        system: "sched",
        name: "sched_stat_runtime",
        fields: &[
            ("char comm[16]", 16, false),
            ("pid_t pid", 4, true),
            ("u32 unused", 4, false),
            ("u64 runtime", 8, false),
        ],
        print: "\"comm=%s pid=%d runtime=%Lu [ns]\", REC->comm, REC->pid, \
                (unsigned long long)REC->runtime",
    },
    Format {
        system: "power",
        name: "cpu_frequency",
        fields: &[("u32 state", 4, false), ("u32 cpu_id", 4, false)],
        print: "\"state=%lu cpu_id=%lu\", (unsigned long)REC->state, (unsigned long)REC->cpu_id",
    },
    Format {
        system: "x86_fpu",
        name: "x86_fpu_regs_deactivated",
        fields: &[
            ("struct fpu * fpu", 8, false),
            ("u64 load_fpu", 8, false),
            ("u64 xfeatures", 8, false),
            ("u64 xcomp_bv", 8, false),
        ],
        print: "\"x86/fpu: 0x%llx load: %d xfeatures: %llx xcomp_bv: %llx\", REC->fpu, \
                REC->load_fpu, REC->xfeatures, REC->xcomp_bv",
    },
    Format {
        system: "evenkeel",
        name: "license",
        fields: &[("u32 core", 4, false), ("u32 level", 4, false), ("u32 rate_permille", 4, false)],
        print: "\"core=%u level=%u rate_permille=%u\", REC->core, REC->level, REC->rate_permille",
    },
    Format {
        system: "evenkeel",
        name: "decision",
        fields: &[
            ("u32 victim", 4, false),
            ("u32 culprit", 4, false),
            ("u64 slice_ns", 8, false),
            ("u64 refund_ns", 8, false),
            ("u64 bill_ns", 8, false),
        ],
        print: "\"victim=%u culprit=%u slice_ns=%llu refund_ns=%llu bill_ns=%llu\", REC->victim, \
                REC->culprit, REC->slice_ns, REC->refund_ns, REC->bill_ns",
    },
    Format {
        system: "evenkeel",
        name: "phase",
        fields: &[
            ("u32 task", 4, false),
            ("u32 rate_permille", 4, false),
            ("u32 stall_permille", 4, false),
            ("char class[16]", 16, false),
        ],
        print: "\"task=%u class=%s rate_permille=%u stall_permille=%u\", REC->task, REC->class, \
                REC->rate_permille, REC->stall_permille",
    },
    Format {
        system: "evenkeel",
        name: "overhead",
        fields: &[("u64 ns", 8, false)],
        print: "\"ns=%llu\", REC->ns",
    },
    Format {
        system: "evenkeel",
        name: "edge",
        fields: &[("char of[8]", 8, false)],
        print: "\"%s\", REC->of",
    },
];

/// The number of an event.
pub fn id(format: usize) -> u16 {
    FIRST_ID + format as u16
}

/// All fields of an event, in their order.
fn fields(index: usize) -> impl Iterator<Item = &'static Field> {
    let order = (index != EDGE).then_some(&ORDER_FIELD);
    COMMON.iter().chain(FORMATS[index].fields).chain(order)
}

/// The text that tracefs would have in `events/SYSTEM/NAME/format`.
pub fn text(index: usize) -> String {
    let format = &FORMATS[index];
    let mut text = format!("name: {}\nID: {}\nformat:\n", format.name, id(index));
    let mut offset = 0;
    for (place, &(declaration, size, signed)) in fields(index).enumerate() {
        if place == COMMON.len() {
            text.push('\n');
        }
        let signed = u8::from(signed);
        let _ = writeln!(
            text,
            "\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};"
        );
        offset += size;
    }
    let _ = writeln!(text, "\nprint fmt: {}", format.print);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_aligned_and_events_of_a_system_are_together() {
        for (index, format) in FORMATS.iter().enumerate() {
            let mut offset = 0;
            for &(declaration, size, _) in fields(index) {
                let aligned = declaration.ends_with(']') || offset % size == 0;
                assert!(aligned, "{}: {declaration}", format.name);
                offset += size;
            }
            assert_eq!(offset % 4, 0, "{}", format.name);
        }
        let mut systems: Vec<&str> = FORMATS.iter().map(|format| format.system).collect();
        systems.dedup();
        assert_eq!(systems, ["sched", "power", "x86_fpu", "evenkeel"]);
    }
}
