//! Work of a known length that touches no memory. `spin.h`.

mod c {
    unsafe extern "C" {
        pub fn spin(iterations: u64);
    }
}

/// Counts down.
#[inline]
pub fn spin(iterations: i64) {
    // SAFETY: The function takes any number.
    unsafe { c::spin(iterations as u64) };
}
