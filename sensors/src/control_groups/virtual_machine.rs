//! Which virtual machine of libvirt a control group belongs to.
//!
//! With systemd the group is `machine.slice/machine-qemu\x2d3\x2dNAME.scope` (libvirt,
//! src/util/virsystemd.c, `virSystemdMakeScopeName`), without it `machine/qemu-3-NAME.libvirt-qemu`
//! (libvirt, docs/cgroups.rst, "Generic cgroups layout"). Both hold the machine's name, which
//! `virDomainGenerateMachineName` (src/conf/domain_conf.c) makes of the driver, the number of the
//! running machine and its name, without characters that a host name cannot have.

use super::systemd::unescaped;

/// The name of the outermost virtual machine of a path: what runs within it has no group here.
pub(super) fn virtual_machine(components: &[&str]) -> Option<String> {
    components.iter().find_map(|component| {
        let of_systemd = component
            .strip_prefix("machine-")
            .and_then(|rest| rest.strip_suffix(".scope"))
            .map(unescaped);
        let machine =
            of_systemd.or_else(|| component.strip_suffix(".libvirt-qemu").map(str::to_owned))?;
        let (number, name) = machine.strip_prefix("qemu-")?.split_once('-')?;
        let is_number = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
        (is_number && !name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_of_libvirt_is_known_by_its_group_with_systemd_and_without() {
        for (path, name) in [
            (r"machine.slice/machine-qemu\x2d1\x2ddebian.scope", Some("debian")),
            (r"machine.slice/machine-qemu\x2d12\x2dweb\x2d1.scope/libvirt/vcpu0", Some("web-1")),
            ("machine/qemu-3-db.libvirt-qemu/emulator", Some("db")),
            (r"machine.slice/machine-my\x2dbox.scope/payload", None),
            (r"machine.slice/machine-qemu\x2dx\x2ddebian.scope", None),
            (r"machine.slice/machine-qemu\x2d1\x2d.scope", None),
            ("system.slice/qemu-1-a.service", None),
        ] {
            let components: Vec<&str> = path.split('/').collect();
            assert_eq!(virtual_machine(&components).as_deref(), name, "{path}");
        }
    }
}
