//! Schedulers in the host: our own, upstream's, and one that makes mistakes.

#[path = "../shares/configuration.rs"]
mod configuration;
mod evenkeel;
#[path = "../shares/ideal.rs"]
mod ideal;
mod machine;
mod mistakes;
#[path = "../shares/on_host.rs"]
mod on_host;
mod random;
mod sensors;
mod shares;
mod upstream;
