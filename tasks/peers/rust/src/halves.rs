//! A vector halved until a piece fits a block, several times over. `halves.h`.

use crate::measure;

/// The sizes of a vector and of a block, and the number of iterations.
#[derive(Clone, Copy)]
pub struct Halves {
    pub size: i64,
    pub block: i64,
    pub iterations: i64,
}

impl Halves {
    /// Reads the parameters; both sizes are logarithms to base 2.
    pub fn parameters(size_log2: i64, iterations: i64) -> Self {
        let size = 1 << measure::parameter("size_log2", size_log2, 0..=40);
        let block = 1 << measure::parameter("block_log2", 12, 0..=40);
        let iterations = measure::parameter("iterations", iterations, 1..=1000);
        Self { size, block: size.min(block), iterations }
    }

    /// Leaves and inner nodes.
    pub fn nodes(self) -> u64 {
        (self.iterations * (2 * (self.size / self.block) - 1)) as u64
    }
}
