//! The wire format of protocol buffers, as much as is written here.

/// A message being written.
#[derive(Clone, Debug, Default)]
pub struct Message(pub Vec<u8>);

/// Wire type of numbers.
const VARINT: u64 = 0;
/// Wire type of strings and messages.
const LENGTH: u64 = 2;

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
