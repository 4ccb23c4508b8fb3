//! Events that our own exports have and no kernel: licenses, decisions, phases, overheads.

use cpu_model::Class;

use super::entry;
use crate::Event;

/// The event of that name, whose fields `number` and `text` find by name; `None` if it is
/// somebody else's. The machine puts the CPU in.
pub fn own<'t>(
    name: &[u8],
    number: impl Fn(&str) -> Option<u64>,
    text: impl Fn(&str) -> Option<&'t [u8]>,
) -> Option<Event> {
    let small = |name: &str| number(name).and_then(|number| u32::try_from(number).ok());
    Some(match name {
        b"license" => Event::License {
            core: entry::cpu(small("core")?)?,
            level: u8::try_from(number("level")?).ok()?,
            rate_permille: u16::try_from(number("rate_permille")?).ok()?,
        },
        b"decision" => Event::Decision {
            cpu: 0,
            victim: small("victim")?,
            culprit: small("culprit")?,
            slice_ns: number("slice_ns")?,
            refund_ns: number("refund_ns")?,
            bill_ns: number("bill_ns")?,
        },
        b"phase" => Event::Phase {
            task: small("task")?,
            class: Class::from_name(std::str::from_utf8(text("class")?).ok()?)?,
            rate_permille: small("rate_permille")?,
            stall_permille: small("stall_permille")?,
        },
        b"overhead" => Event::Overhead { cpu: 0, ns: number("ns")? },
        _ => return None,
    })
}
