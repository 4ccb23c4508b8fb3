//! A real program under the tracer: CPUID's answers to the program, and nothing else changes.
//!
//! Where CPUID cannot fault, another instruction that does stands for it in the test's program.

mod follow;
mod masks;
mod program;
