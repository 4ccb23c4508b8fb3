//! Which group ran on each CPU, and when, in as much detail as a picture shows.

use trace::{Event, History};

use crate::core_levels::LevelSpan;
use crate::groups::{By, groups};

/// A stretch of time of a group on a CPU. Times are from the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The CPU.
    pub cpu: u32,
    /// Index into [`TimeLine::groups`].
    pub group: u32,
    /// Begin.
    pub from_ns: u64,
    /// End.
    pub to_ns: u64,
}

/// The stretches of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeLine {
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Stretches, by CPU and time.
    pub spans: Vec<Span>,
    /// License levels of cores, by core and time; empty where they are not known.
    pub levels: Vec<LevelSpan>,
    /// Length of the recording.
    pub length_ns: u64,
}

impl TimeLine {
    /// The time line of a recording, each CPU in at most `most` equal parts of the time, of which
    /// each shows the group that ran longest in it, where one ran for half of the part or more.
    #[must_use]
    pub fn of(history: &History, by: By, most: usize) -> Self {
        let header = &history.header;
        let (groups, of_task) = groups(&header.tasks, by);
        let length_ns = header.end_ns.saturating_sub(header.start_ns);
        let part_ns = length_ns.div_ceil(most.max(1) as u64).max(1);
        let mut cpus: Vec<Parts> = (0..header.cpus).map(|cpu| Parts::new(cpu, part_ns)).collect();
        for record in &history.records {
            let Event::Switch { cpu, next, .. } = record.event else { continue };
            let now_ns = record.time_ns.saturating_sub(header.start_ns);
            let next = header.tasks.binary_search_by_key(&next, |task| task.tid);
            if let Some(parts) = cpus.get_mut(cpu as usize) {
                parts.switch(now_ns, next.ok().map(|task| of_task[task]));
            }
        }
        let spans = cpus.into_iter().flat_map(|parts| parts.finish(length_ns)).collect();
        Self { groups, spans, levels: Vec::new(), length_ns }
    }
}

/// The parts of one CPU's time, one after the other.
struct Parts {
    cpu: u32,
    part_ns: u64,
    /// The group that runs, and since when.
    running: Option<(u32, u64)>,
    /// The part that is being filled: its number, and the time of each group in it.
    number: u64,
    ran_ns: Vec<(u32, u64)>,
    spans: Vec<Span>,
}

impl Parts {
    fn new(cpu: u32, part_ns: u64) -> Self {
        Self { cpu, part_ns, running: None, number: 0, ran_ns: Vec::new(), spans: Vec::new() }
    }

    fn switch(&mut self, now_ns: u64, next: Option<u32>) {
        if let Some((group, since_ns)) = self.running {
            self.ran(group, since_ns, now_ns);
        }
        self.running = next.map(|group| (group, now_ns));
    }

    fn ran(&mut self, group: u32, mut from_ns: u64, to_ns: u64) {
        while from_ns < to_ns {
            let number = from_ns / self.part_ns;
            if number != self.number {
                self.close();
                self.number = number;
            }
            let until_ns = to_ns.min((number + 1) * self.part_ns);
            match self.ran_ns.iter_mut().find(|(it, _)| *it == group) {
                Some((_, ns)) => *ns += until_ns - from_ns,
                None => self.ran_ns.push((group, until_ns - from_ns)),
            }
            from_ns = until_ns;
        }
    }

    fn close(&mut self) {
        let busy_ns: u64 = self.ran_ns.iter().map(|(_, ns)| ns).sum();
        let longest = self.ran_ns.iter().max_by_key(|(_, ns)| *ns).copied();
        self.ran_ns.clear();
        let Some((group, _)) = longest.filter(|_| busy_ns * 2 >= self.part_ns) else { return };
        let (cpu, from_ns) = (self.cpu, self.number * self.part_ns);
        let to_ns = from_ns + self.part_ns;
        match self.spans.last_mut() {
            Some(last) if last.group == group && last.to_ns == from_ns => last.to_ns = to_ns,
            _ => self.spans.push(Span { cpu, group, from_ns, to_ns }),
        }
    }

    fn finish(mut self, length_ns: u64) -> Vec<Span> {
        self.switch(length_ns, None);
        self.close();
        self.spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_shows_the_group_that_ran_longest_and_neighbours_of_one_group_are_one() {
        let mut parts = Parts::new(1, 10);
        let stays = [(0, 7), (24, 8), (31, 0), (38, 9), (40, 0), (41, 8), (44, 9)];
        for (now_ns, group) in stays {
            parts.switch(now_ns, (group != 0).then_some(group));
        }
        let spans: Vec<_> =
            parts.finish(50).iter().map(|it| (it.group, it.from_ns, it.to_ns)).collect();
        // From 30 to 40 no group ran for half of the time.
        assert_eq!(spans, [(7, 0, 20), (8, 20, 30), (9, 40, 50)]);
    }
}
