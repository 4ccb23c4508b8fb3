//! Timers of a scheduler (`bpf_timer`, kernel/bpf/helpers.c, Linux 7.0).

use crate::abi::{EBUSY, EINVAL};
use crate::ops::{Op, Program};
use crate::state::State;

/// A timer in a map's value.
pub(crate) struct Timer {
    /// Address of its `struct bpf_timer` in the map's value.
    address: u64,
    map: usize,
    pub key: u32,
    pub callback: Option<Program>,
    pub due_ns: Option<u64>,
    /// The CPU that started the timer, on which the timer fires.
    pub cpu: usize,
    number: u64,
}

/// How long the callback of a timer takes at least.
const CALLBACK_NS: u64 = 1000;

impl State {
    fn timer(&mut self, address: u64) -> Option<&mut Timer> {
        self.timers.iter_mut().find(|timer| timer.address == address)
    }

    pub(crate) fn init_timer(&mut self, address: u64, map: usize) -> i64 {
        if self.timer(address).is_some() {
            return EBUSY;
        }
        let place: *const u8 = std::ptr::with_exposed_provenance(address as usize);
        let Some(key) = self.maps.place_of(map, place) else { return EINVAL };
        let number = self.timers.len() as u64;
        let timer = Timer { address, map, key, callback: None, due_ns: None, cpu: 0, number };
        self.timers.push(timer);
        0
    }

    pub(crate) fn set_timer_callback(&mut self, address: u64, callback: Program) -> i64 {
        let Some(timer) = self.timer(address) else { return EINVAL };
        timer.callback = Some(callback);
        0
    }

    pub(crate) fn start_timer(&mut self, address: u64, ns: u64, absolute: bool) -> i64 {
        let (cpu, now_ns) = (self.this_cpu(), self.now_ns);
        let late_ns = self.chance.lateness_ns();
        // A callback that starts its timer without a delay takes some time: else no time would
        // pass here.
        let is_callback = self.context().is_some_and(|context| context.op == Op::Timer);
        let first_ns = if is_callback { now_ns + CALLBACK_NS } else { 0 };
        let Some(timer) = self.timer(address) else { return EINVAL };
        if timer.callback.is_none() {
            return EINVAL;
        }
        let start_ns = if absolute { 0 } else { now_ns };
        let due_ns = start_ns.saturating_add(ns).max(first_ns);
        timer.due_ns = Some(due_ns.saturating_add(late_ns));
        timer.cpu = cpu;
        0
    }

    pub(crate) fn cancel_timer(&mut self, address: u64) -> i64 {
        let Some(timer) = self.timer(address) else { return EINVAL };
        i64::from(timer.due_ns.take().is_some())
    }

    /// When the next timer fires.
    pub(crate) fn next_timer_ns(&self) -> Option<u64> {
        self.timers.iter().filter_map(|timer| timer.due_ns).min()
    }

    /// Takes the first timer that is due: its callback, CPU, map, key and value.
    pub(crate) fn take_due(&mut self) -> Option<(Program, usize, usize, u32, *mut u8)> {
        let now_ns = self.now_ns;
        let is_due = |timer: &&mut Timer| timer.due_ns.is_some_and(|due_ns| due_ns <= now_ns);
        let due = self.timers.iter_mut().filter(is_due);
        let timer = due.min_by_key(|timer| (timer.due_ns, timer.number))?;
        timer.due_ns = None;
        let (callback, cpu, map, key) = (timer.callback?, timer.cpu, timer.map, timer.key);
        let value = self.maps.lookup(map, &key.to_ne_bytes(), cpu);
        Some((callback, cpu, map, key, value))
    }
}
