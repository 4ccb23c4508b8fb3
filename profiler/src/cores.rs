//! Which CPUs of a recording are of one core?

use trace::Header;

/// The cores of a recorded machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cores {
    /// By core: its CPUs.
    pub cpus: Vec<Vec<u32>>,
    /// By CPU: its core.
    pub of: Vec<usize>,
    /// Whether it is known which CPUs share a core; else each is one.
    pub are_known: bool,
}

impl Cores {
    /// By the recording: hardware threads numbered one after the other, or the list `cores` among
    /// its facts, such as `0+2,1+3`. Without either, `threads_per_core` numbered one after the
    /// other.
    #[must_use]
    pub fn of(header: &Header, threads_per_core: Option<u32>) -> Self {
        let rows = |threads: u32| -> Vec<Vec<u32>> {
            let cpus: Vec<u32> = (0..header.cpus).collect();
            cpus.chunks(threads.max(1) as usize).map(<[u32]>::to_vec).collect()
        };
        let listed = || listed(header.facts.get("cores")?, header.cpus);
        let known = header.threads_per_core.map(rows).or_else(listed);
        let known = known.or_else(|| threads_per_core.map(rows));
        let are_known = known.is_some();
        let cpus = known.unwrap_or_else(|| rows(1));
        let mut of = vec![0; header.cpus as usize];
        for (core, cpus) in cpus.iter().enumerate() {
            cpus.iter().for_each(|&cpu| of[cpu as usize] = core);
        }
        Self { cpus, of, are_known }
    }
}

/// The cores of a list; CPUs that it leaves out, as those offline, are cores of their own. `None`:
/// it is no list of the machine's CPUs.
fn listed(text: &str, count: u32) -> Option<Vec<Vec<u32>>> {
    let core = |text: &str| text.split('+').map(|cpu| cpu.parse().ok()).collect();
    let mut cores: Vec<Vec<u32>> = text.split(',').map(core).collect::<Option<_>>()?;
    let mut is_listed = vec![false; count as usize];
    for &cpu in cores.iter().flatten() {
        let is_twice = std::mem::replace(is_listed.get_mut(cpu as usize)?, true);
        if is_twice {
            return None;
        }
    }
    let missing = (0..count).filter(|&cpu| !is_listed[cpu as usize]);
    cores.extend(missing.map(|cpu| vec![cpu]));
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores(cpus: u32, rows: Option<u32>, list: Option<&str>, asked: Option<u32>) -> Cores {
        let list = list.map(|list| ("cores".to_owned(), list.to_owned()));
        let header = Header {
            schema: trace::SCHEMA,
            source: trace::Source::Recorded,
            cpus,
            start_ns: 0,
            end_ns: 0,
            threads_per_core: rows,
            cores_per_package: None,
            cpu: None,
            facts: list.into_iter().collect(),
            tasks: Vec::new(),
            stacks: Vec::new(),
        };
        Cores::of(&header, asked)
    }

    #[test]
    fn siblings_are_those_of_the_recording_before_those_of_its_reader() {
        assert_eq!(cores(4, Some(2), None, None).cpus, [[0, 1], [2, 3]]);
        let halves = cores(4, None, Some("0+2,1+3"), Some(2));
        assert_eq!(
            (&halves.cpus[..], &halves.of[..]),
            (&[vec![0, 2], vec![1, 3]][..], &[0, 1, 0, 1][..])
        );
        assert_eq!(cores(4, None, None, Some(2)).cpus, [[0, 1], [2, 3]]);
        let alone = cores(2, None, None, None);
        assert!(!alone.are_known && alone.cpus == [[0], [1]]);
    }

    #[test]
    fn a_list_that_is_none_is_not_believed() {
        for list in ["", "0+9", "0+1,1", "0+x", "0-1"] {
            assert!(!cores(4, None, Some(list), None).are_known, "{list}");
        }
        assert_eq!(cores(4, None, Some("0+2"), None).cpus, [vec![0, 2], vec![1], vec![3]]);
    }
}
