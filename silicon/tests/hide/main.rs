//! A real program under the tracer: what CPUID tells it, and that nothing else changes.
//!
//! Where CPUID cannot fault, another instruction that does stands for it in the test's program.

mod follow;
mod masks;
mod program;
