//! What schedulers do in the host.

#[path = "../shares/configuration.rs"]
mod configuration;
mod evenkeel;
#[path = "../shares/ideal.rs"]
mod ideal;
mod machine;
mod mistakes;
#[path = "../../build/native.rs"]
mod native;
mod random;
mod sensors;
mod shares;
mod upstream;
