//! Which tasks leave their CPU with wide registers in use, at which rate, and which tasks run after
//! them? Schedules nothing, and needs no sched_ext.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::time::Duration;

use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder};

use crate::kernel::Kernel;
use crate::load::{LoadError, map, refused};

/// The program that `build.rs` compiled.
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/observe.bpf.o"));
/// The tracepoint at which the kernel has saved a task's registers.
const REGISTERS: &str = "x86_fpu_regs_deactivated";
/// Most rows in each table; our choice.
const ROWS_MAX: usize = 20;

/// How often a task left its CPU with which registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// Its name when wide registers were last in use.
    pub name: String,
    /// Times that the task left its CPU, since the first time with wide registers.
    pub leaves: u64,
    /// Times with registers in use of 256 bits, of 512 bits, and with tiles.
    pub with: [u64; 3],
}

/// How a task ran after another that had left wide registers behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// Its name.
    pub name: String,
    /// Number of times.
    pub times: u64,
    /// Time within the hold, in ns.
    pub ns: u64,
}

/// All observations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// By thread id.
    pub users: HashMap<u32, User>,
    /// By the thread ids of the user and of the task that ran after the user.
    pub afters: HashMap<(u32, u32), After>,
    /// Tasks and pairs that the maps had no room for.
    pub lost: u64,
}

/// The attached observer; dropping this value detaches its programs.
pub struct Observer {
    _links: Vec<Link>,
    object: Object,
}

impl Observer {
    /// Attaches the observer. A task that runs on a CPU within `hold` after a user of wide
    /// registers counts as one that ran after the user.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn start(kernel: &Kernel, hold: Duration) -> Result<Self, LoadError> {
        if !kernel.has_tracepoint(REGISTERS) {
            return Err(LoadError::NoTracepoint(REGISTERS));
        }
        let mut object = ObjectBuilder::default()
            .open_memory(OBJECT)
            .map_err(refused("opening the observer"))?;
        let hold_ns = u64::try_from(hold.as_nanos()).unwrap_or(u64::MAX);
        for mut map in object.maps_mut() {
            if map.name().to_string_lossy().ends_with(".rodata") {
                let values = map.initial_value_mut().expect("constants have values");
                values[..8].copy_from_slice(&hold_ns.to_ne_bytes());
            }
        }
        let object = object.load().map_err(refused("loading the observer"))?;
        let attach = refused("attaching to a tracepoint");
        let links = object.progs_mut().map(|program| program.attach_trace().map_err(&attach));
        let links = links.collect::<Result<_, _>>()?;
        Ok(Self { _links: links, object })
    }

    /// The observations so far.
    #[must_use]
    pub fn observed(&self) -> Observed {
        let users = entries(&self.object, "users")
            .filter_map(|(key, value)| Some((number(&key, 0)?, user(&value)?)));
        let afters = entries(&self.object, "afters").filter_map(|(key, value)| {
            Some(((number(&key, 0)?, number(&key, 4)?), after(&value)?))
        });
        let lost = map(&self.object, ".bss").lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let lost = lost.ok().flatten().and_then(|bytes| long(&bytes, 0)).unwrap_or(0);
        Observed { users: users.collect(), afters: afters.collect(), lost }
    }
}

/// Keys and values of a map; entries that are deleted meanwhile are left out.
fn entries(object: &Object, name: &str) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    let map = map(object, name);
    let keys: Vec<_> = map.keys().collect();
    let value = move |key: Vec<u8>| {
        let value = map.lookup(&key, MapFlags::ANY).ok()??;
        Some((key, value))
    };
    keys.into_iter().filter_map(value).collect::<Vec<_>>().into_iter()
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

fn name(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    trace::clean(&bytes[..end])
}

/// `struct user` of the BPF program.
fn user(bytes: &[u8]) -> Option<User> {
    let with = [long(bytes, 8)?, long(bytes, 16)?, long(bytes, 24)?];
    Some(User { leaves: long(bytes, 0)?, with, name: name(bytes.get(32..48)?) })
}

/// `struct after` of the BPF program.
fn after(bytes: &[u8]) -> Option<After> {
    Some(After { times: long(bytes, 0)?, ns: long(bytes, 8)?, name: name(bytes.get(16..32)?) })
}

/// The observations of a time as tables by names: users of wide registers, most times first, and
/// the tasks that ran after them, longest time first.
#[must_use]
pub fn text(observed: &Observed, time: Duration, hold: Duration) -> String {
    let seconds = time.as_secs_f64();
    let mut text = format!("observed for {seconds:.1} s; nothing was scheduled\n");
    if observed.users.is_empty() {
        text.push_str("no task left its CPU with wide registers in use\n");
        return text;
    }
    users(&mut text, observed, seconds);
    afters(&mut text, observed, hold);
    if observed.lost > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "there was no room for {} more tasks or pairs", observed.lost);
    }
    text
}

fn users(text: &mut String, observed: &Observed, seconds: f64) {
    let mut names: BTreeMap<&str, (usize, User)> = BTreeMap::new();
    for user in observed.users.values() {
        let (tasks, sum) = names.entry(&user.name).or_default();
        *tasks += 1;
        sum.leaves += user.leaves;
        sum.with.iter_mut().zip(user.with).for_each(|(sum, more)| *sum += more);
    }
    let wide = |user: &User| user.with.iter().sum::<u64>();
    let mut rows: Vec<_> = names.into_iter().collect();
    rows.sort_by_key(|(_, (_, user))| std::cmp::Reverse(wide(user)));
    let _ = writeln!(
        text,
        "\nleft their CPU with wide registers in use:\n{:16}{:>7}{:>10}{:>10}{:>8}{:>11}{:>12}",
        "name", "tasks", "256 bits", "512 bits", "tiles", "a second", "of leaves",
    );
    for (name, (tasks, user)) in rows.iter().take(ROWS_MAX) {
        let (rate, share) = (wide(user) as f64 / seconds, share(wide(user), user.leaves));
        let [bits_256, bits_512, tiles] = user.with;
        let _ = writeln!(
            text,
            "{name:16}{tasks:7}{bits_256:10}{bits_512:10}{tiles:8}{rate:11.1}{share:10.1} %",
        );
    }
    left_out(text, rows.len());
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn afters(text: &mut String, observed: &Observed, hold: Duration) {
    let mut pairs: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for ((user, _), after) in &observed.afters {
        let Some(user) = observed.users.get(user) else { continue };
        let (times, ns) = pairs.entry((&user.name, &after.name)).or_default();
        *times += after.times;
        *ns += after.ns;
    }
    let mut rows: Vec<_> = pairs.into_iter().collect();
    rows.sort_by_key(|(_, (_, ns))| std::cmp::Reverse(*ns));
    let ms = hold.as_secs_f64() * 1e3;
    let _ = writeln!(text, "\nran on the same CPU within {ms:.2} ms after them:");
    if rows.is_empty() {
        text.push_str("no task\n");
        return;
    }
    let _ = writeln!(text, "{:16}{:16}{:>10}{:>12}", "after", "ran", "times", "ms");
    for ((user, after), (times, ns)) in rows.iter().take(ROWS_MAX) {
        let _ = writeln!(text, "{user:16}{after:16}{times:10}{:12.2}", *ns as f64 / 1e6);
    }
    left_out(text, rows.len());
}

fn left_out(text: &mut String, rows: usize) {
    if rows > ROWS_MAX {
        let _ = writeln!(text, "and {} more", rows - ROWS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: Duration = Duration::from_micros(670);

    #[test]
    fn what_the_program_counts_is_read() {
        let mut bytes = [0; 48];
        for (at, count) in [(0, 9u64), (8, 1), (16, 2), (24, 3)] {
            bytes[at..at + 8].copy_from_slice(&count.to_ne_bytes());
        }
        bytes[32..36].copy_from_slice(b"a\xff\x1bb");
        let expected = User { name: "a\u{fffd}\u{fffd}b".to_owned(), leaves: 9, with: [1, 2, 3] };
        assert_eq!(user(&bytes), Some(expected));
        assert_eq!(user(&bytes[..40]), None);
        assert_eq!(after(&bytes).map(|it| (it.times, it.ns)), Some((9, 1)));
    }

    #[test]
    fn tasks_of_a_name_are_summed_up_and_the_widest_come_first() {
        let user = |name: &str, leaves, with| User { name: name.to_owned(), leaves, with };
        let after = |name: &str, times, ns| After { name: name.to_owned(), times, ns };
        let observed = Observed {
            users: HashMap::from([
                (1, user("x265", 50, [0, 20, 0])),
                (2, user("x265", 50, [10, 10, 0])),
                (3, user("grep", 10, [1, 0, 0])),
            ]),
            afters: HashMap::from([
                ((1, 9), after("nginx", 3, 500_000)),
                ((2, 9), after("nginx", 1, 1_000_000)),
                ((3, 9), after("bash", 1, 5_000)),
                // A pair without its user, as when the map of users was full.
                ((8, 9), after("lost", 1, 9_000_000)),
            ]),
            lost: 0,
        };
        let text = text(&observed, Duration::from_secs(10), HOLD);
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[4], ["x265", "2", "10", "30", "0", "4.0", "40.0", "%"]);
        assert_eq!(rows[5][..2], ["grep", "1"]);
        assert!(text.contains("within 0.67 ms after them"));
        assert_eq!(rows[9], ["x265", "nginx", "4", "1.50"]);
        assert_eq!(rows[10], ["grep", "bash", "1", "0.01"]);
        assert_eq!(rows.len(), 11);
    }

    #[test]
    fn a_machine_without_wide_registers_says_so() {
        let text = text(&Observed::default(), Duration::from_secs(1), HOLD);
        assert!(text.ends_with("no task left its CPU with wide registers in use\n"));
    }
}
