//! Which devices of perf tell clocks and energy, by which codes and in which units?
//!
//! The kernel's files below [`FOLDER`] tell; the caller opens them.

use super::code::Code;
use super::refusal::Refusal;
use crate::topology::cpu_list;

/// Where the kernel describes the devices of perf.
pub const FOLDER: &str = "/sys/bus/event_source/devices";

/// An event of a device other than the PMU of the cores.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceEvent {
    /// Its code.
    pub code: Code,
    /// What a count is worth, in the unit.
    pub scale: f64,
    /// The unit, where the kernel names one.
    pub unit: Option<String>,
    /// The CPUs that count, one for each package; empty: every CPU counts for itself.
    pub cpus: Vec<u32>,
}

/// The description of an event; `read` yields the text of a file below [`FOLDER`].
///
/// # Errors
/// [`Refusal::NoDevice`] where the kernel has no such event, or describes it by other terms than
/// its number.
pub fn device_event(
    read: impl Fn(&str) -> Option<String>,
    device: &'static str,
    event: &str,
) -> Result<DeviceEvent, Refusal> {
    let text = |name: String| read(&format!("{device}/{name}")).map(|text| text.trim().to_owned());
    let number = || {
        let kind = text("type".to_owned())?.parse().ok()?;
        let config = text(format!("events/{event}"))?;
        let config = u64::from_str_radix(config.strip_prefix("event=0x")?, 16).ok()?;
        Some(Code { device: kind, config })
    };
    let code = number().ok_or(Refusal::NoDevice(device))?;
    let scale = text(format!("events/{event}.scale"));
    let scale = scale.map_or(Some(1.0), |scale| scale.parse::<f64>().ok());
    let scale = scale.filter(|scale| scale.is_finite() && *scale > 0.0);
    Ok(DeviceEvent {
        code,
        scale: scale.ok_or(Refusal::NoDevice(device))?,
        unit: text(format!("events/{event}.unit")),
        cpus: text("cpumask".to_owned()).and_then(|list| cpu_list(&list)).unwrap_or_default(),
    })
}

/// The codes of aperf and mperf.
///
/// # Errors
/// [`Refusal::NoDevice`].
pub fn aperf_mperf(read: impl Fn(&str) -> Option<String>) -> Result<[Code; 2], Refusal> {
    let code = |event| device_event(&read, "msr", event).map(|event| event.code);
    Ok([code("aperf")?, code("mperf")?])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn files(list: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        let owned = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
        let files: BTreeMap<String, String> = list.iter().map(owned).collect();
        move |name| files.get(name).cloned()
    }

    #[test]
    fn aperf_and_mperf_have_the_codes_that_the_kernel_gives() {
        let with = |mperf: &[(&str, &str)]| {
            let mut list = vec![("msr/type", "11\n"), ("msr/events/aperf", "event=0x01\n")];
            list.extend(mperf);
            aperf_mperf(files(&list))
        };
        assert_eq!(with(&[]), Err(Refusal::NoDevice("msr")));
        let code = |config| Code { device: 11, config };
        assert_eq!(with(&[("msr/events/mperf", "event=0x02\n")]), Ok([code(1), code(2)]));
        assert!(with(&[("msr/events/mperf", "umask=0x02\n")]).is_err());
    }

    #[test]
    fn energy_has_a_scale_a_unit_and_a_cpu_of_each_package() {
        let list = [
            ("power/type", "23\n"),
            ("power/cpumask", "0,16\n"),
            ("power/events/energy-pkg", "event=0x02\n"),
            ("power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n"),
            ("power/events/energy-pkg.unit", "Joules\n"),
        ];
        let found = device_event(files(&list), "power", "energy-pkg").unwrap();
        assert_eq!(found.code, Code { device: 23, config: 2 });
        assert_eq!(found.scale, 2f64.powi(-32));
        assert_eq!((found.unit.as_deref(), found.cpus), (Some("Joules"), vec![0, 16]));
        let missing = device_event(files(&list), "power", "energy-dram");
        assert_eq!(missing, Err(Refusal::NoDevice("power")));
    }

    proptest! {
        #[test]
        fn any_files_are_read_without_panic(text in "(?s).{0,40}") {
            let _ = device_event(|_| Some(text.clone()), "power", "energy-pkg");
        }
    }
}
