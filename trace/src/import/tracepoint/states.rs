//! The letters of a task's state, by the kernel that recorded the number.

/// Bits and the letters that the kernel prints for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct States {
    bits: Vec<(u64, u8)>,
}

impl Default for States {
    /// Those of `trace_sched_switch` (include/trace/events/sched.h) since 4.14.
    fn default() -> Self {
        let letters = b"SDTtXZPI".iter().enumerate();
        Self { bits: letters.map(|(bit, &letter)| (1 << bit, letter)).collect() }
    }
}

impl States {
    /// Reads `{ 0x0001, "S" }, { 2, "D" }` in the line that says how a switch is printed.
    pub fn parse(print: &str) -> Option<Self> {
        let mut bits = Vec::new();
        for pair in print.split('{').skip(1) {
            let (number, rest) = pair.split_once(',')?;
            let letter = rest.split('"').nth(1)?.bytes().next()?;
            let bit = number_of(number.trim())?;
            if bit != 0 {
                bits.push((bit, letter));
            }
        }
        (!bits.is_empty()).then_some(Self { bits })
    }

    /// The letter that the kernel prints for the first bit that is set; `R` without any bit.
    pub fn letter(&self, state: u64) -> u8 {
        self.bits.iter().find(|&&(bit, _)| state & bit == bit).map_or(b'R', |&(_, letter)| letter)
    }
}

fn number_of(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_are_those_of_the_kernel_that_recorded() {
        let old = States::parse(
            "prev_state=%s%s\", REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & \
             (1024-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" \
             }, { 32, \"X\" }, { 64, \"x\" }, { 128, \"K\" }) : \"R\", REC->prev_state & 1024",
        )
        .unwrap();
        let letters =
            |states: &States| [0, 1, 2, 16, 32, 64, 128, 130, 1024].map(|it| states.letter(it));
        assert_eq!(&letters(&old), b"RSDZXxKDR");
        assert_eq!(&letters(&States::default()), b"RSDXZPIDR");
    }

    #[test]
    fn a_text_without_letters_is_not_a_table_of_states() {
        for text in ["", "\"%d\", REC->x", "{ 1", "{ 1, 2 }", "{ x, \"S\" }", "{ 0, \"R\" }"] {
            assert_eq!(States::parse(text), None, "{text}");
        }
    }
}
