//! A row of blocks, swept step by step. `blocks.h`.

use std::process::ExitCode;

use evenkeel_runtime::Data;
use peers::{measure, pool};

/// Steps done, in a cache line of its own.
#[repr(align(64))]
struct Block {
    steps: i64,
}

fn main() -> ExitCode {
    measure::open("blocks", "evenkeel");
    let count = measure::parameter("blocks", 1024, 1..=1 << 24);
    let steps = measure::parameter("steps", 1000, 1..=1 << 24);
    let runtime = pool::evenkeel(measure::threads());
    let blocks: Vec<Data<Block>> = (0..count).map(|_| Data::new(Block { steps: 0 })).collect();

    measure::time(|| {
        runtime.scope(|scope| {
            for step in 0..steps {
                scope.task().inout(&blocks[0]).spawn(move |block| {
                    if block.steps == step {
                        block.steps = step + 1;
                    }
                });
                for pair in blocks.windows(2) {
                    scope.task().input(&pair[0]).inout(&pair[1]).spawn(move |before, block| {
                        // A task out of turn leaves the block unchanged.
                        if block.steps == step && before.steps == step + 1 {
                            block.steps = step + 1;
                        }
                    });
                }
            }
        });
    });

    let behind = blocks.into_iter().map(Data::into_inner);
    let behind = behind.filter(|block| block.steps != steps).count() as u64;
    measure::close((count * steps) as u64, measure::differ("blocks left behind", behind, 0))
}
