//! The wire format of protocol buffers, as much as Perfetto's traces need.

/// Wire type of numbers.
const VARINT: u64 = 0;
/// Wire type of strings, messages and packed numbers.
const LENGTH: u64 = 2;
/// Wire types of numbers of 64 and 32 bits.
const FIXED_64: u64 = 1;
const FIXED_32: u64 = 5;

/// A message being written.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Adds a number; negative ones as 64 bits of two's complement.
    pub fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// Adds a string or the bytes of a message.
    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a message.
    pub fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    /// The number, if the value fits that type.
    pub fn number<T: TryFrom<u64>>(self) -> Option<T> {
        match self {
            Self::Number(number) => T::try_from(number).ok(),
            Self::Bytes(_) => None,
        }
    }

    /// A signed number of 32 bits, negative ones being written with 64.
    pub fn signed(self) -> Option<i32> {
        self.number().and_then(|number: u64| i32::try_from(number.cast_signed()).ok())
    }

    pub fn bytes(self) -> Option<&'b [u8]> {
        match self {
            Self::Number(_) => None,
            Self::Bytes(bytes) => Some(bytes),
        }
    }
}

/// The fields of a message one after the other; the last item may be damage.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    pub fn new(message: &'b [u8]) -> Self {
        Self(message)
    }

    fn field(&mut self) -> Result<(u64, Value<'b>), Damaged> {
        let tag = varint(&mut self.0)?;
        let value = match tag & 7 {
            VARINT => Value::Number(varint(&mut self.0)?),
            LENGTH => {
                let length = usize::try_from(varint(&mut self.0)?).map_err(|_| Damaged)?;
                Value::Bytes(self.take(length)?)
            }
            FIXED_64 => Value::Number(little_endian(self.take(8)?)),
            FIXED_32 => Value::Number(little_endian(self.take(4)?)),
            _ => return Err(Damaged),
        };
        Ok((tag >> 3, value))
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<(u64, Value<'b>), Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

/// Numbers that are packed into one field; the last item may be damage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packed<'b>(pub &'b [u8]);

impl Iterator for Packed<'_> {
    type Item = Result<u64, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| varint(&mut self.0).inspect_err(|_| self.0 = &[]))
    }
}

/// Takes a number from the beginning of `bytes`.
pub fn varint(bytes: &mut &[u8]) -> Result<u64, Damaged> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(Damaged)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Damaged)
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_fields_are_read_back() {
        let numbers = [0, 1, 127, 128, 300, 1 << 35, u64::MAX];
        let mut message = Message::default().bytes(15, b"name");
        for number in numbers {
            message = message.number(16, number);
        }
        let fields: Vec<_> = Fields::new(&message.0).map(Result::unwrap).collect();
        assert_eq!(fields[0], (15, Value::Bytes(b"name")));
        let read: Vec<u64> = fields[1..].iter().filter_map(|field| field.1.number()).collect();
        assert_eq!(read, numbers);
    }

    #[test]
    fn numbers_of_every_size_and_sign_are_read() {
        let bytes = [0x09, 1, 0, 0, 0, 0, 0, 0, 1, 0x15, 2, 0, 0, 0];
        let fields: Vec<_> = Fields::new(&bytes).collect();
        let long = Value::Number(1 << 56 | 1);
        assert_eq!(fields, [Ok((1, long)), Ok((2, Value::Number(2)))]);
        assert_eq!(Value::Number(u64::MAX).signed(), Some(-1));
        assert_eq!(Value::Number(1 << 31).signed(), None);
        let packed: Vec<_> = Packed(&[1, 0xac, 2, 0x80]).collect();
        assert_eq!(packed, [Ok(1), Ok(300), Err(Damaged)]);
    }

    #[test]
    fn a_field_that_is_cut_or_has_no_type_is_damaged() {
        let bytes: [&[u8]; 5] = [
            &[0x80],
            &[0x08],
            &[0x0a, 2, b'a'],
            &[0x0b],
            &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
        ];
        for bytes in bytes {
            let fields: Vec<_> = Fields::new(bytes).collect();
            assert_eq!(fields, [Err(Damaged)], "{bytes:?}");
        }
    }
}
