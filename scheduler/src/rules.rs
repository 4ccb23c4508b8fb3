//! Which license level do the rules give to a name that the BPF program asks for?

use cpu_model::CpuModel;
use trace::classes::Rules;

/// Bytes of a name, `EK_NAME`.
const NAME_BYTES: usize = 16;

/// The name of a task and that of its process, as in `struct ek_names` of the BPF program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names(pub [u8; 2 * NAME_BYTES]);

/// The answer where no rule fits: `EK_NAME_UNRULED`.
pub const UNRULED: u32 = 0xffff_fffe;

impl Names {
    /// From the bytes of a record.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        bytes.first_chunk().copied().map(Self)
    }

    /// Both names as text; bytes that are not UTF-8 are replaced.
    fn text(&self) -> [String; 2] {
        let (task, process) = self.0.split_at(NAME_BYTES);
        [task, process].map(|name| {
            let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
            trace::clean(&name[..end])
        })
    }

    /// The level that the first rule that fits gives on a CPU, or [`UNRULED`].
    #[must_use]
    pub fn answer(&self, rules: &Rules, model: &CpuModel) -> u32 {
        let [task, process] = self.text();
        let found = rules.find(&task, &process);
        found.map_or(UNRULED, |it| model.level_demanded(it.class, it.rate_permille).into())
    }
}

#[cfg(test)]
mod tests {
    use cpu_model::{CpuTable, TurboMode};

    use super::*;

    fn names(task: &[u8], process: &[u8]) -> Names {
        let mut bytes = [0; 2 * NAME_BYTES];
        bytes[..task.len()].copy_from_slice(task);
        bytes[NAME_BYTES..][..process.len()].copy_from_slice(process);
        Names::parse(&bytes).unwrap()
    }

    #[test]
    fn rules_become_levels_of_the_cpu() {
        let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
        let rules =
            ["x265*=avx512-heavy", "nginx=avx2-heavy", "web=avx2-heavy@0.2", "?\u{fffd}=amx"];
        let rules = Rules::parse(&rules.map(str::to_owned)).unwrap();
        let answer = |task: &[u8], process: &[u8]| names(task, process).answer(&rules, &model);
        assert_eq!(answer(b"x265", b""), 2);
        assert_eq!(answer(b"worker", b"nginx"), 1);
        // Sparse heavy 256-bit code demands nothing on a Xeon Gold 6130 (D 4.5.1).
        assert_eq!(answer(b"web", b""), 0);
        assert_eq!(answer(b"bash", b"bash"), UNRULED);
        // A name that is no UTF-8, which the rule `?\u{fffd}` fits (this CPU has no tiles), and one
        // without a zero at its end.
        assert_eq!(answer(b"a\xff", b""), 0);
        assert_eq!(answer(b"x265-0123456789a", b""), 2);
        assert_eq!(Names::parse(&[0; 31]), None);
    }
}
