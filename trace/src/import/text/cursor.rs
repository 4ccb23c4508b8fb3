//! Reading a line piece by piece.

/// A place in a line.
#[derive(Clone, Copy)]
pub struct Cursor<'t> {
    pub text: &'t [u8],
    pub at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t [u8], at: usize) -> Self {
        Self { text, at }
    }

    pub fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// Steps over `word`, or fails.
    pub fn eat(&mut self, word: &[u8]) -> Option<()> {
        self.rest().starts_with(word).then(|| self.at += word.len())
    }

    /// Steps over spaces, at least one.
    pub fn spaces(&mut self) -> Option<()> {
        let spaces = self.rest().iter().take_while(|&&byte| byte == b' ').count();
        self.at += spaces;
        (spaces > 0).then_some(())
    }

    /// Reads a decimal number.
    pub fn number(&mut self) -> Option<u64> {
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        (self.at > start).then_some(value)
    }

    /// Reads a decimal number of 32 bits.
    pub fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Reads a process number; the kernel's are signed 32-bit numbers.
    pub fn pid(&mut self) -> Option<u32> {
        self.small().filter(|&pid| pid <= i32::MAX as u32)
    }

    /// Reads a decimal number with an optional sign.
    pub fn signed(&mut self) -> Option<i32> {
        let negative = self.eat(b"-").is_some();
        let value = i32::try_from(self.number()?).ok()?;
        Some(if negative { -value } else { value })
    }

    /// Reads a hexadecimal number, with or without `0x`.
    pub fn hex(&mut self) -> Option<u64> {
        self.eat(b"0x");
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits == 0 || digits > 16 {
            return None;
        }
        let value = self.rest()[..digits].iter().fold(0, |value, &byte| {
            value << 4 | u64::from((byte as char).to_digit(16).unwrap_or(0))
        });
        self.at += digits;
        Some(value)
    }

    /// Reads up to the next space or the end, at least one byte.
    pub fn word(&mut self) -> Option<&'t [u8]> {
        let rest = self.rest();
        let length = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    /// Whether nothing but spaces is left.
    pub fn done(&self) -> Option<()> {
        self.rest().iter().all(|&byte| matches!(byte, b' ' | b'\r')).then_some(())
    }
}

/// Every place from `from` on at which `word` begins.
pub fn places<'t>(
    text: &'t [u8],
    word: &'t [u8],
    from: usize,
) -> impl DoubleEndedIterator<Item = usize> + 't {
    let from = from.min(text.len());
    memchr::memchr_iter(word[0], &text[from..])
        .map(move |at| from + at)
        .filter(move |&at| text[at..].starts_with(word))
}
