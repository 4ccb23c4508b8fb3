//! Schedulers in the host: our own, upstream's, and one that makes mistakes.

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
