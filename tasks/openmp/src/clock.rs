//! What time is it?

/// Seconds since some moment in the past.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_wtime() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is ours; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    seconds(now)
}

/// Seconds between two ticks of that clock.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_wtick() -> f64 {
    let mut tick = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `tick` is ours; the clock exists on every Linux.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut tick) };
    seconds(tick)
}

fn seconds(time: libc::timespec) -> f64 {
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_in_ticks_shorter_than_a_millisecond() {
        let begin = omp_get_wtime();
        let tick = omp_get_wtick();
        assert!(tick > 0.0 && tick < 1e-3);
        while omp_get_wtime() < begin + tick {}
    }
}
