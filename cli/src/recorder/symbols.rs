//! Names the functions of stacks, while their processes are alive.

use std::collections::HashMap;
use std::fs;

use blazesym::Pid;
use blazesym::symbolize::source::{Process, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};
use sensors::recorder::Stack;
use trace::{FRAMES_MAX, FUNCTION_MAX, clean_up_to};

/// Stands for a function of a process that has ended, or whose memory cannot be read.
const UNKNOWN: &str = "[unknown]";

/// The stacks of a recording, by their numbers.
#[derive(Default)]
pub struct Symbols {
    symbolizer: Symbolizer,
    stacks: Vec<Vec<String>>,
}

impl Symbols {
    /// Names the functions of further stacks. Code that a runtime generated has names where the
    /// runtime wrote a map for perf (perf-PID.map).
    pub fn add(&mut self, stacks: Vec<Stack>) {
        let mut maps: HashMap<u32, Maps> = HashMap::new();
        for stack in stacks {
            let maps = maps.entry(stack.pid).or_insert_with(|| Maps::of(stack.pid));
            let mut names = self.names(&stack, maps);
            names.truncate(FRAMES_MAX);
            names.reverse();
            self.stacks.push(names);
        }
    }

    /// The stacks, each from the outermost function to the innermost.
    pub fn into_stacks(self) -> Vec<Vec<String>> {
        self.stacks
    }

    /// Names, the innermost first; functions that were inlined count.
    fn names(&self, stack: &Stack, maps: &Maps) -> Vec<String> {
        let source = Source::Process(Process::new(Pid::from(stack.pid)));
        let found = self.symbolizer.symbolize(&source, Input::AbsAddr(&stack.addresses));
        let found = found.unwrap_or_default();
        let mut names = Vec::new();
        for (index, &address) in stack.addresses.iter().enumerate() {
            match found.get(index) {
                Some(Symbolized::Sym(symbol)) => {
                    let inlined = symbol.inlined.iter().rev().map(|it| it.name.as_ref());
                    let all = inlined.chain([symbol.name.as_ref()]);
                    names.extend(all.map(|name| clean_up_to(name.as_bytes(), FUNCTION_MAX)));
                }
                _ => names.push(maps.place(address).unwrap_or_else(|| UNKNOWN.to_owned())),
            }
        }
        names
    }
}

/// The mapped files of a process.
struct Maps(Vec<Mapping>);

struct Mapping {
    begin: u64,
    end: u64,
    offset: u64,
    file: String,
}

impl Maps {
    fn of(pid: u32) -> Self {
        let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        Self(String::from_utf8_lossy(&text).lines().filter_map(Mapping::parse).collect())
    }

    /// The place of a function that has no name: its offset in the file, which stays the same from
    /// run to run, as the address does not.
    fn place(&self, address: u64) -> Option<String> {
        let at = self.0.iter().find(|it| (it.begin..it.end).contains(&address))?;
        let file = at.file.rsplit('/').next().unwrap_or(&at.file);
        let file = clean_up_to(file.as_bytes(), FUNCTION_MAX / 2);
        Some(match at.file.as_str() {
            "" => "[generated code]".to_owned(),
            _ => format!("{file}+{:#x}", address - at.begin + at.offset),
        })
    }
}

impl Mapping {
    /// Reads a line of /proc/PID/maps (`man proc_pid_maps`).
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (begin, end) = words.next()?.split_once('-')?;
        let _permissions = words.next()?;
        let offset = words.next()?;
        let (_device, _inode) = (words.next()?, words.next()?);
        let number = |text| u64::from_str_radix(text, 16).ok();
        let file = line.find('/').map_or_else(
            || words.next().unwrap_or_default().to_owned(),
            |at| line[at..].trim_end_matches(" (deleted)").to_owned(),
        );
        Some(Self { begin: number(begin)?, end: number(end)?, offset: number(offset)?, file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn a_function_of_this_test() -> u64 {
        a_function_of_this_test as *const () as u64
    }

    #[test]
    fn functions_of_a_living_process_have_names_and_the_innermost_is_last() {
        let address = a_function_of_this_test();
        let addresses = vec![address, 8];
        let mut symbols = Symbols::default();
        symbols.add(vec![Stack { pid: std::process::id(), addresses }]);
        let stacks = symbols.into_stacks();
        assert_eq!(stacks[0][0], UNKNOWN);
        assert!(stacks[0].last().unwrap().contains("a_function_of_this_test"), "{stacks:?}");
    }

    #[test]
    fn a_process_that_has_ended_has_unknown_functions() {
        let mut symbols = Symbols::default();
        symbols.add(vec![Stack { pid: u32::MAX >> 1, addresses: vec![0x1000, 0x2000] }]);
        assert_eq!(symbols.into_stacks(), [[UNKNOWN, UNKNOWN]]);
    }

    #[test]
    fn a_place_is_the_offset_in_the_file() {
        let line = "7f00-8000 r-xp 00000200 fe:00 12   /usr/lib/a b/libx265.so.199 (deleted)";
        let maps = Maps(vec![Mapping::parse(line).unwrap()]);
        assert_eq!(maps.place(0x7f10).unwrap(), "libx265.so.199+0x210");
        assert_eq!(maps.place(0x8000), None);
        let generated = Maps(vec![Mapping::parse("10-20 rwxp 0 00:00 0").unwrap()]);
        assert_eq!(generated.place(0x18).unwrap(), "[generated code]");
        assert!(Mapping::parse("nonsense").is_none());
    }
}
