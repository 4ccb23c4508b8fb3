//! A `bool` that a program passes.

/// gcc sets only the lowest byte of the register; Rust would read a `bool` from all of the
/// register.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Flag(u32);

impl Flag {
    /// Whether the flag is set.
    pub(crate) fn is_set(self) -> bool {
        self.0 & 0xff != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lowest_byte_of_a_flag_counts() {
        assert!(Flag(0x1201).is_set());
        assert!(!Flag(0xff00).is_set());
    }
}
