//! Numbers that the kernel and its schedulers share.
//!
//! include/linux/sched/ext.h, kernel/sched/ext_internal.h, kernel/sched/sched.h, Linux 7.0. The
//! host refuses an object that was compiled with others.

pub(crate) const SLICE_DFL: u64 = 20_000_000;
pub(crate) const SLICE_INF: u64 = u64::MAX;

pub(crate) const DSQ_FLAG_BUILTIN: u64 = 1 << 63;
pub(crate) const DSQ_GLOBAL: u64 = DSQ_FLAG_BUILTIN | 1;
pub(crate) const DSQ_LOCAL: u64 = DSQ_FLAG_BUILTIN | 2;
pub(crate) const DSQ_LOCAL_ON: u64 = DSQ_FLAG_BUILTIN | 1 << 62;
pub(crate) const DSQ_LOCAL_CPU_MASK: u64 = 0xffff_ffff;

pub(crate) const TASK_QUEUED: u64 = 1;

pub(crate) const ENQ_WAKEUP: u64 = 1;
pub(crate) const DEQ_SLEEP: u64 = 1;
/// `ENQUEUE_RESTORE` and `DEQUEUE_SAVE`: a property of the task changes.
pub(crate) const ENQ_RESTORE: u64 = 2;
pub(crate) const DEQ_SAVE: u64 = 2;
pub(crate) const ENQ_HEAD: u64 = 1 << 16;
/// `select_cpu` was called for the wake-up.
pub(crate) const ENQ_CPU_SELECTED: u64 = 1 << 20;
pub(crate) const ENQ_PREEMPT: u64 = 1 << 32;
/// The task was taken out of a local queue (`scx_bpf_reenqueue_local`).
pub(crate) const ENQ_REENQ: u64 = 1 << 40;
pub(crate) const ENQ_LAST: u64 = 1 << 41;
/// Flags that schedulers must not use.
pub(crate) const ENQ_INTERNAL: u64 = 0xff << 56;
pub(crate) const ENQ_DSQ_PRIQ: u64 = 1 << 57;

pub(crate) const KICK_IDLE: u64 = 1;
pub(crate) const KICK_PREEMPT: u64 = 2;
pub(crate) const KICK_WAIT: u64 = 4;
pub(crate) const PICK_IDLE_CORE: u64 = 1;
pub(crate) const WAKE_FORK: u64 = 4;
pub(crate) const WAKE_TTWU: u64 = 8;
pub(crate) const WAKE_SYNC: u64 = 16;

pub(crate) const OPS_KEEP_BUILTIN_IDLE: u64 = 1;
pub(crate) const OPS_ENQ_LAST: u64 = 2;
pub(crate) const OPS_ENQ_EXITING: u64 = 4;
pub(crate) const OPS_ENQ_MIGRATION_DISABLED: u64 = 16;

/// `SCX_DSP_MAX_LOOPS`, `SCX_DSP_DFL_MAX_BATCH`.
pub(crate) const DISPATCH_LOOPS_MAX: u32 = 32;
pub(crate) const DISPATCH_BATCH: usize = 32;
/// `SCX_WATCHDOG_MAX_TIMEOUT`.
pub(crate) const WATCHDOG_MAX_NS: u64 = 30_000_000_000;

pub(crate) const PF_EXITING: u64 = 4;
pub(crate) const PF_KTHREAD: u64 = 0x0020_0000;
pub(crate) const DEFAULT_PRIO: i64 = 120;
/// The scheduling policy of tasks that run when no other task wants to.
pub(crate) const SCHED_IDLE: u64 = 5;
/// `WEIGHT_IDLEPRIO` as `scx.weight`: at least 1.
pub(crate) const WEIGHT_IDLE: u64 = 1;
pub(crate) const NO_TASK: usize = usize::MAX;

/// Messages that an instance keeps, the first ones, and objects that a scheduler may hold.
pub(crate) const PRINTED_MAX: usize = 10_000;
pub(crate) const OBJECTS_MAX: usize = 100_000;

pub(crate) const ENOENT: i64 = -2;
pub(crate) const EBUSY: i64 = -16;
pub(crate) const EEXIST: i64 = -17;
pub(crate) const EINVAL: i64 = -22;
pub(crate) const E2BIG: i64 = -7;

/// `enum scx_exit_kind`.
pub(crate) const EXIT_UNREG: i32 = 64;
pub(crate) const EXIT_UNREG_BPF: i32 = 65;
pub(crate) const EXIT_UNREG_KERN: i32 = 66;
pub(crate) const EXIT_ERROR: i32 = 1024;
pub(crate) const EXIT_ERROR_BPF: i32 = 1025;
pub(crate) const EXIT_ERROR_STALL: i32 = 1026;

/// The constants that an object may declare, by name.
pub(crate) const CONSTANTS: [(&str, u64); 31] = [
    ("SCX_SLICE_DFL", SLICE_DFL),
    ("SCX_SLICE_INF", SLICE_INF),
    ("SCX_DSQ_FLAG_BUILTIN", DSQ_FLAG_BUILTIN),
    ("SCX_DSQ_FLAG_LOCAL_ON", 1 << 62),
    ("SCX_DSQ_GLOBAL", DSQ_GLOBAL),
    ("SCX_DSQ_LOCAL", DSQ_LOCAL),
    ("SCX_DSQ_LOCAL_ON", DSQ_LOCAL_ON),
    ("SCX_DSQ_LOCAL_CPU_MASK", DSQ_LOCAL_CPU_MASK),
    ("SCX_TASK_QUEUED", TASK_QUEUED),
    ("SCX_ENQ_WAKEUP", ENQ_WAKEUP),
    ("SCX_ENQ_HEAD", ENQ_HEAD),
    ("SCX_ENQ_CPU_SELECTED", ENQ_CPU_SELECTED),
    ("SCX_ENQ_PREEMPT", ENQ_PREEMPT),
    ("SCX_ENQ_REENQ", ENQ_REENQ),
    ("SCX_ENQ_LAST", ENQ_LAST),
    ("SCX_ENQ_DSQ_PRIQ", ENQ_DSQ_PRIQ),
    ("SCX_DEQ_SLEEP", DEQ_SLEEP),
    ("SCX_KICK_IDLE", KICK_IDLE),
    ("SCX_KICK_PREEMPT", KICK_PREEMPT),
    ("SCX_KICK_WAIT", KICK_WAIT),
    ("SCX_PICK_IDLE_CORE", PICK_IDLE_CORE),
    ("SCX_WAKE_FORK", WAKE_FORK),
    ("SCX_WAKE_TTWU", WAKE_TTWU),
    ("SCX_WAKE_SYNC", WAKE_SYNC),
    ("SCX_OPS_KEEP_BUILTIN_IDLE", OPS_KEEP_BUILTIN_IDLE),
    ("SCX_OPS_ENQ_LAST", OPS_ENQ_LAST),
    ("SCX_OPS_ENQ_EXITING", OPS_ENQ_EXITING),
    ("SCX_OPS_ENQ_MIGRATION_DISABLED", OPS_ENQ_MIGRATION_DISABLED),
    ("SCX_EXIT_ERROR", EXIT_ERROR as u64),
    ("SCX_EXIT_ERROR_BPF", EXIT_ERROR_BPF as u64),
    ("SCX_EXIT_ERROR_STALL", EXIT_ERROR_STALL as u64),
];
