//! The stacks as a profile of `pprof`: gzipped protobuf.
//!
//! The numbers of fields are those of `proto/profile.proto` of github.com/google/pprof. A stack has
//! no addresses here, so each function has one location.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use trace::ProtobufMessage as Message;

use super::{Stack, Weight, exported};

/// The profile as the bytes of a `.pb.gz` file, for `pprof` and for tools that read its format.
///
/// A sample has two values: `lost`, the CPU time that others lost to the stack, in ns; and `seen`,
/// how often the stack was seen. The first is what `pprof` shows by default, unless no stack has
/// any. The labels of a sample are `program`, `thread` and `kind`: `pprof -tagroot=program` groups
/// by them. `length_s` is the length of the profile, in s. The bytes hold no time of day.
#[must_use]
pub fn pprof(stacks: &[Stack], length_s: f64) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(&profile(stacks, length_s).0);
    written.and_then(|()| encoder.finish()).expect("a vector takes all bytes")
}

fn profile(stacks: &[Stack], length_s: f64) -> Message {
    let mut strings = Strings::default();
    // The first string is empty: 0 means that there is none.
    strings.add(String::new());
    let lost = strings.value_type("lost", "nanoseconds");
    let seen = strings.value_type("seen", "count");
    let mut profile = Message::default().message(1, &lost).message(1, &seen);
    let mut functions = BTreeMap::new();
    for stack in stacks {
        let sample = sample(stack, &mut strings, &mut functions);
        profile = profile.message(2, &sample);
    }
    // A mapping that says that its functions have names, so that no reader looks for them.
    let file = strings.add("[recorded]".to_owned());
    profile = profile.message(3, &Message::default().number(1, 1).number(5, file).number(7, 1));
    for (&name, &id) in &functions {
        let line = Message::default().number(1, id);
        let location = Message::default().number(1, id).number(2, 1).message(4, &line);
        let function = Message::default().number(1, id).number(2, name).number(3, name);
        profile = profile.message(4, &location).message(5, &function);
    }
    let shown = match Weight::of(stacks) {
        Weight::LostTime => "lost",
        Weight::Count => "seen",
    };
    let shown = strings.add(shown.to_owned());
    for text in &strings.all {
        profile = profile.bytes(6, text.as_bytes());
    }
    profile.number(10, nanoseconds(length_s)).number(14, shown)
}

/// The stack, its innermost function first, and its labels. `functions` has the identifiers of
/// functions, by the places of their names.
fn sample(stack: &Stack, strings: &mut Strings, functions: &mut BTreeMap<u64, u64>) -> Message {
    let mut sample = Message::default();
    for frame in stack.frames.iter().rev() {
        let name = strings.add(exported(frame));
        let next = functions.len() as u64 + 1;
        sample = sample.number(1, *functions.entry(name).or_insert(next));
    }
    let lost_ns = nanoseconds(Weight::LostTime.size(stack));
    sample = sample.number(2, lost_ns).number(2, stack.count.min(i64::MAX as u64));
    let labels = [("program", &stack.group), ("thread", &stack.thread), ("kind", &stack.kind)];
    for (key, value) in labels {
        let (key, value) = (strings.add(key.to_owned()), strings.add(exported(value)));
        sample = sample.message(3, &Message::default().number(1, key).number(2, value));
    }
    sample
}

/// Whole nanoseconds; what the format cannot hold becomes the nearest value that it can.
fn nanoseconds(seconds: f64) -> u64 {
    ((seconds * 1e9).round() as u64).min(i64::MAX as u64)
}

/// The table of strings of a profile.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    places: BTreeMap<String, u64>,
}

impl Strings {
    /// The place of a text.
    fn add(&mut self, text: String) -> u64 {
        let next = self.all.len() as u64;
        let place = *self.places.entry(text.clone()).or_insert(next);
        if place == next {
            self.all.push(text);
        }
        place
    }

    fn value_type(&mut self, name: &str, unit: &str) -> Message {
        let (name, unit) = (self.add(name.to_owned()), self.add(unit.to_owned()));
        Message::default().number(1, name).number(2, unit)
    }
}
