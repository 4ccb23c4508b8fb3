//! What schedulers do in the host.

mod evenkeel;
mod machine;
mod random;
