//! Core specialization (D ch. 6): `evenkeel/specialize.h` and `evenkeel/wide_phase.h`.

/// What specialization knows of a task: `enum ek_task_kind`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskKind {
    /// The task uses no 512-bit registers now.
    Narrow = 0,
    /// Specialization does not concern the task.
    #[default]
    Default = 1,
    /// The task uses 512-bit registers, and runs on wide cores alone.
    Wide = 2,
}

/// When a core serves a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Before tasks of the second rank.
    First,
    /// If no task of the first rank waits.
    Second,
    /// Never.
    Never,
}

/// Runnable tasks, running ones with them, and cores, by kind: `struct ek_kinds`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Wide tasks.
    pub wide_tasks: u32,
    /// Narrow tasks.
    pub narrow_tasks: u32,
    /// Cores that run any task, wide ones first.
    pub wide_cores: u32,
    /// Cores that never run wide tasks.
    pub narrow_cores: u32,
}

const _: () = assert!(size_of::<Kinds>() == 16);

impl Kinds {
    /// Whether a narrow core becomes wide. `narrow_cpu_idles`: some narrow core has an idle CPU.
    #[must_use]
    pub fn adds(&self, narrow_cpu_idles: bool) -> bool {
        ekp_specialize_adds(self, narrow_cpu_idles.into()) != 0
    }

    /// Whether a wide core becomes narrow.
    #[must_use]
    pub fn removes(&self) -> bool {
        ekp_specialize_removes(self) != 0
    }

    /// Whether a narrow core becomes wide, by virtual times of tasks that wait. `wasted_ns`: for
    /// how long some narrow CPU has idled and some wide task has waited, both without a break.
    #[must_use]
    pub fn adds_by_lag(&self, vtimes: KindVtimes, wasted_ns: u64) -> bool {
        ekp_specialize_adds_by_lag(self, &vtimes, wasted_ns) != 0
    }

    /// Whether a wide core becomes narrow, by virtual times of wide tasks that wait or run, and of
    /// narrow tasks that wait.
    #[must_use]
    pub fn removes_by_lag(&self, vtimes: KindVtimes) -> bool {
        ekp_specialize_removes_by_lag(self, &vtimes) != 0
    }

    /// Whether a wide core runs a narrow task though a wide one waits.
    #[must_use]
    pub fn narrow_first(&self, vtimes: KindVtimes) -> bool {
        ekp_specialize_narrow_first(self, &vtimes) != 0
    }
}

/// The least virtual time of each kind, or [`KindVtimes::NONE_NS`]: `struct ek_kind_vtimes`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindVtimes {
    /// Of wide tasks.
    pub wide_ns: u64,
    /// Of narrow tasks.
    pub narrow_ns: u64,
}

const _: () = assert!(size_of::<KindVtimes>() == 16);

impl KindVtimes {
    /// There is no task of the kind: from here on up.
    pub const NONE_NS: u64 = 1 << 63;
}

/// Least time between two changes of any core where numbers of tasks decide (D 6.2.2).
pub const CORE_CHANGE_INTERVAL_NS: u64 = 20_000_000;
/// The same where virtual times decide.
pub const CORE_CHANGE_LAG_INTERVAL_NS: u64 = 5_000_000;
/// For how long some narrow CPU idles beside waiting wide tasks before a core becomes wide.
pub const WIDE_CORE_IDLE_NS: u64 = 3_000_000;

/// Whether any core may change its kind now, after the last change of any core.
#[must_use]
pub fn may_change_cores(now_ns: u64, changed_ns: u64, interval_ns: u64) -> bool {
    ekp_specialize_may_change(now_ns, changed_ns, interval_ns) != 0
}

/// Whether a core is the right one to change its kind, where the clocks of some cores are capped.
#[must_use]
pub fn prefers_core(becomes_wide: bool, core_is_slow: bool) -> bool {
    ekp_specialize_prefers(becomes_wide.into(), core_is_slow.into()) != 0
}

/// When a core of a kind serves a task of a kind.
#[must_use]
pub fn rank(core_is_wide: bool, task: TaskKind) -> Rank {
    match ekp_specialize_rank(core_is_wide.into(), task as u32) {
        0 => Rank::First,
        1 => Rank::Second,
        _ => Rank::Never,
    }
}

/// CPU time after which a wide phase ends without a system call.
pub const WIDE_PHASE_TIMEOUT_NS: u64 = 10_000_000;

/// The phases of a task: `struct ek_wide_phase`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WidePhase {
    /// CPU time since the phase that now is began.
    pub ran_ns: u64,
    /// Average of 1 for a short narrow phase, and 0 for a longer one, in 2^-16.
    pub short_q16: u32,
    /// 1 in a wide phase, else 0.
    pub is_wide: u32,
}

const _: () = assert!(size_of::<WidePhase>() == 16);

impl WidePhase {
    /// Whether the wide phase goes on, as far as is known.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.is_wide != 0
    }

    /// The task ran for `time_ns`.
    pub fn ran(&mut self, time_ns: u64) {
        ekp_wide_phase_ran(self, time_ns);
    }

    /// The task became wide.
    pub fn begins(&mut self) {
        ekp_wide_phase_begins(self);
    }

    /// The task became narrow.
    pub fn ends(&mut self) {
        ekp_wide_phase_ends(self);
    }

    /// Whether a system call ends the wide phase. `keeps_short`: not if narrow phases are short.
    #[must_use]
    pub fn ends_by_call(&self, keeps_short: bool) -> bool {
        ekp_wide_phase_ends_by_call(self, keeps_short.into()) != 0
    }

    /// The timeout of the wide phase is over; `renews`: it begins anew.
    pub fn times_out(&mut self, renews: bool) {
        ekp_wide_phase_times_out(self, renews.into());
    }

    /// CPU time until the timeout of the wide phase.
    #[must_use]
    pub fn left_ns(&self, timeout_ns: u64) -> u64 {
        ekp_wide_phase_left_ns(self, timeout_ns)
    }
}

unsafe extern "C" {
    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_specialize_may_change(now_ns: u64, changed_ns: u64, interval_ns: u64) -> u32;
    safe fn ekp_specialize_adds_by_lag(kinds: &Kinds, vtimes: &KindVtimes, wasted_ns: u64) -> u32;
    safe fn ekp_specialize_removes_by_lag(kinds: &Kinds, vtimes: &KindVtimes) -> u32;
    safe fn ekp_specialize_narrow_first(kinds: &Kinds, vtimes: &KindVtimes) -> u32;
    safe fn ekp_specialize_adds(kinds: &Kinds, narrow_cpu_idles: u32) -> u32;
    safe fn ekp_specialize_removes(kinds: &Kinds) -> u32;
    safe fn ekp_specialize_prefers(becomes_wide: u32, core_is_slow: u32) -> u32;
    safe fn ekp_specialize_rank(core_is_wide: u32, task_kind: u32) -> u32;
    safe fn ekp_wide_phase_ran(phase: &mut WidePhase, time_ns: u64);
    safe fn ekp_wide_phase_begins(phase: &mut WidePhase);
    safe fn ekp_wide_phase_ends(phase: &mut WidePhase);
    safe fn ekp_wide_phase_ends_by_call(phase: &WidePhase, keeps_short: u32) -> u32;
    safe fn ekp_wide_phase_times_out(phase: &mut WidePhase, renews: u32);
    safe fn ekp_wide_phase_left_ns(phase: &WidePhase, timeout_ns: u64) -> u64;
}
