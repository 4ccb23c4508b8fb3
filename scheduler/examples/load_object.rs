//! Loads a sched_ext scheduler of somebody else, until SIGTERM: `load_object OBJECT`.
//!
//! For comparisons in the lab. Upstream's sources ask their loader for the kernel's own numbers: a
//! constant `__SCX_NAME` is the value of `SCX_NAME` in the running kernel, 0 where it has none
//! (tools/sched_ext/include/scx/enums.h, Linux 7.2).

use std::collections::HashMap;
use std::error::Error;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Enum, Enum64, Var};
use libbpf_rs::{AsRawLibbpf, MapCore, MapType, ObjectBuilder, OpenObject};
use nix::sys::signal::{SigSet, Signal};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("expected the object's file")?;
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    signals.thread_block()?;
    let mut object = ObjectBuilder::default().open_file(&path)?;
    let numbers = wanted_numbers(&object)?;
    let mut constants =
        object.maps_mut().find(|map| map.name().to_string_lossy().ends_with(".rodata"));
    let bytes = constants.as_mut().and_then(|map| map.initial_value_mut()).unwrap_or_default();
    for (offset, value) in numbers {
        bytes[offset..][..8].copy_from_slice(&value.to_ne_bytes());
    }
    let mut object = object.load()?;
    let mut operations = object
        .maps_mut()
        .find(|map| map.map_type() == MapType::StructOps)
        .ok_or("no operations")?;
    let _link = operations.attach_struct_ops()?;
    signals.wait()?;
    Ok(())
}

/// Offsets among the constants, and the kernel's numbers.
fn wanted_numbers(object: &OpenObject) -> Result<Vec<(usize, u64)>, Box<dyn Error>> {
    let of_kernel = numbers_of_kernel()?;
    // SAFETY: the object outlives the reference, and no other code has it.
    let described = Btf::from_bpf_object(unsafe { object.as_libbpf_object().as_ref() })?;
    let described = described.ok_or("the object does not describe itself")?;
    let constants = described.type_by_name::<DataSec>(".rodata").ok_or("no constants")?;
    let number = |offset: u32, name: &str| {
        let name = name.strip_prefix("__").filter(|name| name.starts_with("SCX_"))?;
        Some((offset as usize, of_kernel.get(name).copied().unwrap_or(0)))
    };
    let of_constants = constants.iter().filter_map(|constant| {
        let variable = described.type_by_id::<Var>(constant.ty)?;
        number(constant.offset, variable.name()?.to_str()?)
    });
    Ok(of_constants.collect())
}

fn numbers_of_kernel() -> Result<HashMap<String, u64>, libbpf_rs::Error> {
    let kernel = Btf::from_vmlinux()?;
    let mut numbers = HashMap::new();
    let mut add = |name: Option<&std::ffi::OsStr>, value: u64| {
        if let Some(name) = name.and_then(|name| name.to_str())
            && name.starts_with("SCX_")
        {
            numbers.insert(name.to_owned(), value);
        }
    };
    for group in kernel.type_by_kind::<Enum>() {
        group.iter().for_each(|member| add(member.name, member.value as u64));
    }
    for group in kernel.type_by_kind::<Enum64>() {
        group.iter().for_each(|member| add(member.name, member.value as u64));
    }
    Ok(numbers)
}
