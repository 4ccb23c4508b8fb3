//! Random runs in which an operator pauses CPUs at random times and reads their counters.

use simulator::{Config, Operated, Operator, Reading, SliceCounts};

use crate::case::Case;
use crate::rng::Rng;
use crate::{for_each_case, outcome};

/// Pauses and resumes CPUs that nothing but chance selects, some of them twice.
struct Chance {
    rng: Rng,
    cpus: u64,
    acts_ns: u64,
    /// Those read last, by CPU.
    read: Vec<Reading>,
    paused: Vec<bool>,
    /// By task: CPU time of its slices.
    shown_ns: Vec<u64>,
    wrong: Option<String>,
}

impl Chance {
    fn new(case: &Case) -> Self {
        let cpus = case.workload.machine.cpus() as usize;
        Self {
            rng: Rng::new(case.config.seed),
            cpus: cpus as u64,
            acts_ns: 0,
            read: vec![Reading::default(); cpus],
            paused: vec![false; cpus],
            shown_ns: vec![0; case.workload.threads.len()],
            wrong: None,
        }
    }

    fn look(&mut self, machine: &mut dyn Operated, cpu: usize) {
        let now = machine.read(cpu as u32);
        let before = std::mem::replace(&mut self.read[cpu], now);
        let levels: u64 = now.counts.level_cycles.iter().sum();
        // Each level's count is rounded down.
        let adds_up = (levels..levels + 6).contains(&now.counts.cycles);
        let stays = now.task == before.task && now.switches == before.switches;
        if !adds_up || now.counts.cycles < before.counts.cycles || self.paused[cpu] && !stays {
            self.wrong.get_or_insert(format!("CPU {cpu} reads {now:?} after {before:?}"));
        }
    }
}

impl Operator for Chance {
    fn acts_ns(&self) -> Option<u64> {
        Some(self.acts_ns)
    }

    fn act(&mut self, machine: &mut dyn Operated) {
        let cpu = self.rng.within(0, self.cpus - 1) as usize;
        self.look(machine, cpu);
        self.paused[cpu] = self.rng.once_in(3);
        if self.paused[cpu] {
            machine.pause(cpu as u32);
        } else {
            machine.resume(cpu as u32);
        }
        self.acts_ns = machine.now_ns() + self.rng.within(0, 300_000);
    }

    fn slice_ended(&mut self, slice: &SliceCounts) {
        self.shown_ns[slice.task as usize] += slice.counts.time_ns;
        if slice.counts.time_ns > slice.ended_ns - slice.began_ns {
            self.wrong.get_or_insert(format!("{slice:?} has more CPU time than time"));
        }
    }
}

#[test]
fn books_agree_where_cpus_are_paused() {
    for_each_case("pauses::books_agree_where_cpus_are_paused", 1000, |case| {
        let config = Config { history: false, ..case.config.clone() };
        let case = Case { config, ..case.clone() };
        let run = || {
            let mut chance = Chance::new(&case);
            simulator::run_operated(&case.cpu, &case.workload, &case.config, &mut chance)
                .map(|outcome| (outcome, chance))
                .map_err(|error| error.to_string())
        };
        let (first, chance) = run()?;
        if let Some(wrong) = chance.wrong {
            return Err(wrong);
        }
        outcome::check_paused(&case, &first)?;
        for (task, (outcome, shown_ns)) in first.tasks.iter().zip(chance.shown_ns).enumerate() {
            if shown_ns != outcome.cpu_time_ns {
                return Err(format!(
                    "task {task} had {} ns, shown {shown_ns}",
                    outcome.cpu_time_ns
                ));
            }
        }
        let (again, _) = run()?;
        if again.tasks == first.tasks { Ok(()) } else { Err("a second run differs".into()) }
    });
}
