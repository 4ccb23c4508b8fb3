//! clang's calls for loops of which each thread or team has a part that is known at once.

use super::kmp;
use crate::ident::{Ident, flags};
use crate::iterations::{self, Index, Span};
use crate::ompt::{self, At, Work};
use crate::region::Member;
use crate::region::work::LoopSchedule;
use crate::registration::member;

/// The schedule of `distribute`: one block for each team.
const DISTRIBUTE: i32 = 92;
/// The schedule of `distribute` with chunks.
const DISTRIBUTE_CHUNKED: i32 = 91;

/// The bounds of a loop, which become those of the thread's part.
struct Bounds<T> {
    last: *mut i32,
    lower: *mut T,
    upper: *mut T,
    step: i64,
}

/// The number of the thread or team that takes a part, and of how many.
#[derive(Clone, Copy)]
struct Who {
    parts: u32,
    part: u32,
}

impl Who {
    fn thread(member: &Member) -> Self {
        Self { parts: member.region().size, part: member.number }
    }

    fn team(member: &Member) -> Self {
        let league = member.region().league.get();
        Self { parts: league.teams, part: league.number }
    }
}

impl<T: Index> Bounds<T> {
    /// Tells a part of a loop, or its first chunk.
    ///
    /// # Safety
    /// `last` is null, or may be written; the other pointers may be written.
    unsafe fn tell(&self, span: Span, part: std::ops::Range<u64>, has_last: bool) {
        // SAFETY: `last` is null, or may be written; the other pointers may be written.
        unsafe {
            if let Some(last) = self.last.as_mut() {
                *last = has_last.into();
            }
            let upper = *self.upper;
            if !part.is_empty() {
                *self.lower = T::of(span.at(part.start));
                *self.upper = T::of(span.at(part.end - 1));
            } else if span.trips > 0 {
                // Nothing: bounds that no step leads between, on the side where they do not wrap.
                let behind = T::of(upper.bits().wrapping_add(self.step as u64));
                if (behind > upper) == (self.step > 0) {
                    *self.lower = behind;
                } else {
                    *self.lower = upper;
                    *self.upper = T::of(upper.bits().wrapping_sub(self.step as u64));
                }
            }
        }
    }

    /// The whole loop.
    ///
    /// # Safety
    /// The pointers of the bounds lead to variables.
    unsafe fn span(&self) -> Span {
        // SAFETY: the pointers of the bounds lead to variables.
        unsafe { Span::through(*self.lower, *self.upper, self.step) }
    }

    /// Tells a block. Returns the stride: any that leads behind the loop.
    ///
    /// # Safety
    /// `last` is null, or may be written; the other pointers may be written.
    unsafe fn block(&self, who: Who, chunk: Option<u64>) -> u64 {
        // SAFETY: `last` is null, or may be written; the other pointers may be written.
        unsafe {
            let span = self.span();
            let part = match chunk {
                None => iterations::block(span.trips, who.parts, who.part),
                Some(size) => iterations::balanced_block(span.trips, who.parts, who.part, size),
            };
            let has_last = !part.is_empty() && part.end == span.trips;
            self.tell(span, part, has_last);
            span.step.wrapping_mul(span.trips.max(1))
        }
    }

    /// Writes the bounds of the first chunk. Returns the distance to the next one.
    ///
    /// # Safety
    /// `last` is null, or may be written; the other pointers may be written.
    unsafe fn chunks(&self, who: Who, size: u64) -> u64 {
        let size = size.max(1);
        // SAFETY: `last` is null, or may be written; the other pointers may be written.
        unsafe {
            let span = self.span();
            let first = iterations::chunk(span.trips, size, who.part.into());
            let last = span.trips.saturating_sub(1) / size % u64::from(who.parts.max(1));
            let has_last = span.trips > 0 && last == u64::from(who.part);
            self.tell(span, first, has_last);
            span.step.wrapping_mul(size).wrapping_mul(who.parts.into())
        }
    }

    /// Writes the bounds of the thread's part. Returns the stride.
    ///
    /// # Safety
    /// `last` is null, or may be written; the other pointers may be written.
    unsafe fn part(&self, member: &Member, schedule: i32, chunk: u64) -> u64 {
        let asked = kmp::asked(schedule, chunk);
        // SAFETY: `last` is null, or may be written; the other pointers may be written.
        unsafe {
            match (schedule, asked.how) {
                (DISTRIBUTE, _) => self.block(Who::team(member), None),
                (DISTRIBUTE_CHUNKED, _) => self.chunks(Who::team(member), chunk),
                (_, LoopSchedule::Balanced) => self.block(Who::thread(member), Some(chunk)),
                _ if asked.chunk > 0 => self.chunks(Who::thread(member), asked.chunk),
                _ => self.block(Who::thread(member), None),
            }
        }
    }
}

/// The functions for one type of numbers.
macro_rules! static_init {
    ($of_type:ty, $step:ty, $init:ident, $dist:ident, $team:ident) => {
        /// The thread's part of a loop, or its first chunk and the way to the next.
        ///
        /// # Safety
        /// `last` is null, or may be written; the other pointers may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $init(
            place: *mut Ident,
            _thread: i32,
            schedule: i32,
            last: *mut i32,
            lower: *mut $of_type,
            upper: *mut $of_type,
            stride: *mut $step,
            step: $step,
            chunk: $step,
        ) {
            let bounds = Bounds { last, lower, upper, step: step.into() };
            let chunk = u64::try_from(chunk).unwrap_or_default();
            // SAFETY: `last` is null, or may be written; the other pointers may be written.
            unsafe {
                ompt::works(At::Begin, || (Work::of_kmp(flags(place)), bounds.span().trips));
                *stride = bounds.part(member(), schedule, chunk) as $step;
            }
        }

        /// The part of a thread of a loop that the league's teams divide first; `upper_of_team`
        /// gets the last iteration of the team.
        ///
        /// # Safety
        /// `last` is null, or may be written; the other pointers may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dist(
            place: *mut Ident,
            _thread: i32,
            schedule: i32,
            last: *mut i32,
            lower: *mut $of_type,
            upper: *mut $of_type,
            upper_of_team: *mut $of_type,
            stride: *mut $step,
            step: $step,
            chunk: $step,
        ) {
            let (member, mut is_last) = (member(), 0);
            let bounds = Bounds { last: &raw mut is_last, lower, upper, step: step.into() };
            let chunk = u64::try_from(chunk).unwrap_or_default();
            // SAFETY: `last` is null, or may be written; the other pointers may be written.
            unsafe {
                ompt::works(At::Begin, || (Work::of_kmp(flags(place)), bounds.span().trips));
                bounds.block(Who::team(member), None);
                let is_last_team = is_last != 0;
                *upper_of_team = *upper;
                *stride = bounds.part(member, schedule, chunk) as $step;
                if let Some(last) = last.as_mut() {
                    *last = (is_last_team && is_last != 0).into();
                }
            }
        }

        /// The first chunk of the team, and the way to the next.
        ///
        /// # Safety
        /// `last` is null, or may be written; the other pointers may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $team(
            _where: *mut Ident,
            _thread: i32,
            last: *mut i32,
            lower: *mut $of_type,
            upper: *mut $of_type,
            stride: *mut $step,
            step: $step,
            chunk: $step,
        ) {
            let bounds = Bounds { last, lower, upper, step: step.into() };
            let chunk = u64::try_from(chunk).unwrap_or_default();
            // SAFETY: `last` is null, or may be written; the other pointers may be written.
            unsafe { *stride = bounds.chunks(Who::team(member()), chunk) as $step };
        }
    };
}

static_init!(
    i32,
    i32,
    __kmpc_for_static_init_4,
    __kmpc_dist_for_static_init_4,
    __kmpc_team_static_init_4
);
static_init!(
    u32,
    i32,
    __kmpc_for_static_init_4u,
    __kmpc_dist_for_static_init_4u,
    __kmpc_team_static_init_4u
);
static_init!(
    i64,
    i64,
    __kmpc_for_static_init_8,
    __kmpc_dist_for_static_init_8,
    __kmpc_team_static_init_8
);
static_init!(
    u64,
    i64,
    __kmpc_for_static_init_8u,
    __kmpc_dist_for_static_init_8u,
    __kmpc_team_static_init_8u
);

/// The thread has left the loop.
///
/// # Safety
/// `place` is null, or points to clang's constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_for_static_fini(place: *mut Ident, _thread: i32) {
    // SAFETY: `place` is null, or points to clang's constant.
    ompt::works(At::End, || (Work::of_kmp(unsafe { flags(place) }), 0));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The iterations that all parts run, as clang's programs step through them.
    fn run(lower: i32, upper: i32, step: i32, parts: u32, chunk: Option<u64>) -> Vec<i32> {
        let mut all = Vec::new();
        let mut lasts = 0;
        for part in 0..parts {
            let (mut last, mut low, mut high) = (0, lower, upper);
            let bounds = Bounds {
                last: &raw mut last,
                lower: &raw mut low,
                upper: &raw mut high,
                step: step.into(),
            };
            let who = Who { parts, part };
            // SAFETY: all are variables here.
            let stride = unsafe {
                match chunk {
                    None => bounds.block(who, None),
                    Some(size) => bounds.chunks(who, size),
                }
            } as i32;
            lasts += last;
            let is_in = |at: i32, end: i32| if step > 0 { at <= end } else { at >= end };
            while is_in(low, high) && is_in(low, upper) {
                let end = if is_in(high, upper) { high } else { upper };
                let mut at = low;
                while is_in(at, end) {
                    all.push(at);
                    let Some(next) = at.checked_add(step) else { break };
                    at = next;
                }
                let next = (low.checked_add(stride), high.checked_add(stride));
                let (true, (Some(next), Some(end))) = (chunk.is_some(), next) else { break };
                (low, high) = (next, end);
            }
        }
        assert_eq!(lasts, i32::from(!all.is_empty()));
        all.sort_unstable();
        all
    }

    #[test]
    fn parts_run_every_iteration_once() {
        let loops = [(0, 9, 1), (3, 3, 1), (0, 100, 7), (9, -9, -4), (5, 4, 1)];
        let limits = [(i32::MAX - 9, i32::MAX, 1), (i32::MIN + 5, i32::MIN, -2)];
        for (lower, upper, step) in loops.into_iter().chain(limits) {
            let trips = Span::through(lower, upper, step.into()).trips;
            let mut serial: Vec<i32> = (0..trips as i32).map(|i| lower + i * step).collect();
            serial.sort_unstable();
            for parts in [1, 2, 3, 4, 16] {
                assert_eq!(run(lower, upper, step, parts, None), serial);
                // At its limits a program's own step to the next chunk would overflow.
                if !limits.contains(&(lower, upper, step)) {
                    assert_eq!(run(lower, upper, step, parts, Some(2)), serial);
                }
            }
        }
    }
}
