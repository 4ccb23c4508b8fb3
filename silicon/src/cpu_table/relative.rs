//! The embedded table of the same kind of CPU, for values that cannot be measured.

use cpu_model::CpuTable;

use super::quoted;

/// The embedded table of the same microarchitecture, by CPUID's family, model and stepping
/// (Linux arch/x86/include/asm/intel-family.h; Cascade Lake is Skylake-SP from stepping 5 on).
pub(super) fn relative(signature: Option<(u32, u32, u32)>) -> Option<CpuTable> {
    let name = match signature? {
        (6, 63, _) => "xeon-e5-2699-v3",
        (6, 85, 0..=4) => "xeon-gold-6130",
        (6, 85, 5..=7) => "cascade-lake",
        (6, 106 | 108, _) => "xeon-gold-6326",
        (6, 143, _) => "xeon-platinum-8480-plus",
        (6, 207, _) => "xeon-gold-5512u",
        (6, 173 | 174, _) => "granite-rapids",
        _ => return None,
    };
    CpuTable::by_name(name).ok()
}

/// The relative's performance events: they cannot be measured without a PMU.
pub(super) fn events(relative: &CpuTable) -> String {
    let Some(events) = &relative.events else { return String::new() };
    let mut text = format!(
        "[events]\nsource = {}\nlist = [\n",
        quoted(&format!("not measured; taken over from {}: {}", relative.name, events.source))
    );
    for event in &events.list {
        let cmask = match event.cmask {
            0 => String::new(),
            cmask => format!(", cmask = {cmask}"),
        };
        let scope = if event.per_core { "core" } else { "thread" };
        let signal = quoted(&event.signal);
        let (event, umask) = (event.event, event.umask);
        text += &format!(
            "    {{ signal = {signal}, event = {event:#04x}, umask = {umask:#04x}{cmask}, \
             scope = \"{scope}\" }},\n"
        );
    }
    text + "]\n"
}
