//! Which unit of systemd a control group belongs to.
//!
//! systemd, src/basic/cgroup-util.c, version 257: the unit is the first component that is not a
//! slice (`cg_path_get_unit`); below the service of a user's manager it is the next one that is
//! not a slice (`cg_path_get_user_unit`). Components after the unit are the unit's own matter:
//! a systemd in a container has units of its own there.

/// Kinds of units that have a control group and are not slices (`man systemd.unit`).
const KINDS: [&str; 5] = [".service", ".scope", ".socket", ".mount", ".swap"];

/// The unit of a path and the slice that holds the unit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub unit: Option<&'a str>,
    pub slice: Option<&'a str>,
}

/// The unit and the slice of a group, both as `systemctl` takes them, thus with their escapes.
pub(super) fn place<'a>(components: &[&'a str]) -> Place<'a> {
    let outer = below_slices(components);
    match outer.1 {
        [manager, inner @ ..] if is_user_manager(manager) => {
            let (slice, rest) = below_slices(inner);
            let unit = rest.first().copied().and_then(unit);
            match unit {
                Some(_) => Place { unit, slice: slice.or(outer.0) },
                None => Place { unit: Some(manager), slice: slice.or(outer.0) },
            }
        }
        [first, ..] => Place { unit: unit(first), slice: outer.0 },
        [] => Place { unit: None, slice: outer.0 },
    }
}

/// The last of the slices that a path begins with, and what follows.
fn below_slices<'a, 'c>(components: &'c [&'a str]) -> (Option<&'a str>, &'c [&'a str]) {
    let is_slice = |component: &&&str| component.ends_with(".slice");
    let slices = components.iter().take_while(is_slice).count();
    (components[..slices].last().copied(), &components[slices..])
}

fn is_user_manager(component: &str) -> bool {
    let uid = component.strip_prefix("user@").and_then(|rest| rest.strip_suffix(".service"));
    uid.is_some_and(|uid| uid.parse::<u32>().is_ok())
}

/// The component as a unit. A leading `_` keeps a group's name apart from the kernel's files
/// (`cg_escape` of src/basic/cgroup-util.c) and is no part of the unit's name.
fn unit(component: &str) -> Option<&str> {
    let name = component.strip_prefix('_').unwrap_or(component);
    let is_unit = |kind: &str| name.strip_suffix(kind).is_some_and(|stem| !stem.is_empty());
    KINDS.into_iter().any(is_unit).then_some(name)
}

/// A name without the escapes of units, `\x2d` for `-` (`man systemd-escape`). Bytes that are no
/// text, and escapes that are none, stay as they are.
pub(super) fn unescaped(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = rest.strip_prefix(b"\\x").and_then(|digits| digits.get(..2));
        match hex.and_then(byte_of_hex) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

fn byte_of_hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = digit(*digits.first()?)? * 16 + digit(*digits.get(1)?)?;
    u8::try_from(value).ok()
}

/// The user whose groups a path is among, by the number in `user-1000.slice` (`man user@.service`).
#[must_use]
pub fn uid_of(path: &str) -> Option<u32> {
    let mut components = path.split('/');
    components
        .find_map(|component| component.strip_prefix("user-")?.strip_suffix(".slice")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> (Option<&str>, Option<&str>) {
        let components: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let Place { unit, slice } = place(&components);
        (unit, slice)
    }

    #[test]
    fn the_unit_is_the_first_component_that_is_no_slice() {
        assert_eq!(of("/init.scope"), (Some("init.scope"), None));
        assert_eq!(of("/system.slice/a.service/b"), (Some("a.service"), Some("system.slice")));
        assert_eq!(
            of("/system.slice/system-getty.slice/getty@tty1.service"),
            (Some("getty@tty1.service"), Some("system-getty.slice"))
        );
        assert_eq!(of("/system.slice"), (None, Some("system.slice")));
        assert_eq!(of("/lxc.payload.web/system.slice/a.service"), (None, None));
        assert_eq!(of("/_cpu.service"), (Some("cpu.service"), None));
        assert_eq!(of("/.service"), (None, None));
        assert_eq!(of(""), (None, None));
    }

    #[test]
    fn a_users_manager_has_units_of_its_own() {
        const OF_USER: &str = "/user.slice/user-1000.slice/user@1000.service";
        let of_user = |rest: &str| {
            let path = format!("{OF_USER}{rest}");
            let (unit, slice) = of(&path);
            (unit.map(str::to_owned), slice.map(str::to_owned))
        };
        let said = |unit: &str, slice: &str| (Some(unit.to_owned()), Some(slice.to_owned()));
        assert_eq!(of_user("/app.slice/a.service"), said("a.service", "app.slice"));
        assert_eq!(of_user("/init.scope"), said("init.scope", "user-1000.slice"));
        assert_eq!(of_user("/app.slice"), said("user@1000.service", "app.slice"));
        assert_eq!(of_user(""), said("user@1000.service", "user-1000.slice"));
        assert_eq!(
            of("/user.slice/user-1000.slice/session-3.scope"),
            (Some("session-3.scope"), Some("user-1000.slice"))
        );
        assert_eq!(uid_of(OF_USER), Some(1000));
        assert_eq!(uid_of("/user.slice/user-x.slice"), None);
    }

    #[test]
    fn escapes_are_taken_out_of_what_is_shown() {
        assert_eq!(unescaped(r"qemu\x2d1\x2ddebian"), "qemu-1-debian");
        assert_eq!(unescaped(r"a\x2"), r"a\x2");
        assert_eq!(unescaped(r"a\xzz\x2D"), r"a\xzz-");
        assert_eq!(unescaped(r"\xff"), r"\xff");
    }
}
