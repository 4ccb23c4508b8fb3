//! What schedulers do in the host.

mod evenkeel;
mod machine;
mod mistakes;
#[path = "../../build/native.rs"]
mod native;
mod random;
mod sensors;
mod upstream;
