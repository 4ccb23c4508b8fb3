//! Whether levels and frequencies in a history follow from the running tasks: recomputed here
//! from the running set and the CPU table, apart from the license state machine.

use cpu_model::{Class, CpuModel, LEVELS_MAX, LicenseDomain};
use scenarios::Machine;

/// A license domain of the history.
#[derive(Clone, Default)]
struct Domain {
    level: u8,
    rate_permille: u16,
    /// Every demand with its beginning, oldest first.
    demands: Vec<(u64, u8)>,
    /// Since when the level is below the demand.
    short_since_ns: Option<u64>,
}

/// Granted levels of the cores of a machine, and their demands.
pub struct Licenses<'a> {
    cpu: &'a CpuModel,
    machine: &'a Machine,
    running: Vec<Option<usize>>,
    phases: Vec<Option<(Class, u32)>>,
    domains: Vec<Domain>,
    khz: Vec<u32>,
    has_changed: bool,
}

impl<'a> Licenses<'a> {
    pub fn new(cpu: &'a CpuModel, machine: &'a Machine) -> Self {
        let cores = machine.packages * machine.cores_per_package;
        Self {
            cpu,
            machine,
            running: vec![None; machine.cpus() as usize],
            phases: Vec::new(),
            domains: vec![Domain::default(); cores as usize],
            khz: vec![0; cores as usize],
            has_changed: true,
        }
    }

    pub fn phase(&mut self, task: usize, class: Class, rate_permille: u32) {
        if task >= self.phases.len() {
            self.phases.resize(task + 1, None);
        }
        self.phases[task] = Some((class, rate_permille));
        self.has_changed = true;
    }

    pub fn running(&mut self, cpu: usize, task: Option<usize>) {
        self.running[cpu] = task;
        self.has_changed = true;
    }

    pub fn frequency(&mut self, core: usize, khz: u32) {
        self.khz[core] = khz;
        self.has_changed = true;
    }

    /// A level may fall only after its hold and a halt without demand for the level.
    pub fn license(
        &mut self,
        core: usize,
        level: u8,
        rate_permille: u16,
        now_ns: u64,
    ) -> Result<(), String> {
        self.has_changed = true;
        let table = &self.cpu.license;
        let domain = self.domains.get_mut(core).ok_or("no such core")?;
        for given_up in level + 1..=domain.level {
            let fall_ns = now_ns.saturating_sub(table.fall_halt_ns.into());
            let hold_ns = table.hold_ns[usize::from(given_up)];
            let from_ns = fall_ns.saturating_sub(hold_ns);
            if domain.is_demanded(given_up, from_ns, fall_ns) {
                return Err(format!("core {core} gives up level {given_up} before its hold"));
            }
        }
        domain.level = level;
        domain.rate_permille = rate_permille;
        Ok(())
    }

    /// After all changes of one instant: levels follow demand, frequencies follow levels.
    pub fn end_of_instant(&mut self, now_ns: u64) -> Result<(), String> {
        if !self.has_changed {
            return Ok(());
        }
        self.has_changed = false;
        let slack_ns = self.longest_rise_ns();
        for core in 0..self.domains.len() {
            let demand = self.demanded(core);
            let domain = &mut self.domains[core];
            if domain.demands.last().is_none_or(|&(_, last)| last != demand) {
                domain.demands.push((now_ns, demand));
            }
            if domain.level >= demand {
                domain.short_since_ns = None;
            } else {
                let since_ns = *domain.short_since_ns.get_or_insert(now_ns);
                if now_ns - since_ns > slack_ns {
                    return Err(format!("core {core} is not granted level {demand}"));
                }
            }
            if self.is_active(core) {
                self.check_frequency(core)?;
            }
        }
        Ok(())
    }

    fn check_frequency(&self, core: usize) -> Result<(), String> {
        let package = core as u32 / self.machine.cores_per_package;
        let first = package * self.machine.cores_per_package;
        let active = (first..first + self.machine.cores_per_package)
            .filter(|&core| self.is_active(core as usize))
            .count() as u32;
        let turbo = &self.cpu.turbo;
        let row = turbo.row(self.machine.turbo_cores.unwrap_or(active));
        let (khz, right) = (self.khz[core], turbo.khz(row, self.domains[core].level));
        if khz != right {
            return Err(format!("core {core} runs at {khz} kHz instead of {right}"));
        }
        Ok(())
    }

    fn cpus(&self, core: usize) -> std::ops::Range<usize> {
        let threads = self.machine.threads_per_core as usize;
        core * threads..(core + 1) * threads
    }

    fn is_active(&self, core: usize) -> bool {
        self.running[self.cpus(core)].iter().any(Option::is_some)
    }

    /// The demand of a core's domain.
    fn demanded(&self, core: usize) -> u8 {
        match self.cpu.license_domain {
            LicenseDomain::Core => self.demanded_by_core(core),
            LicenseDomain::Package => {
                let cores = self.machine.cores_per_package as usize;
                let first = core / cores * cores;
                (first..first + cores).map(|core| self.demanded_by_core(core)).max().unwrap_or(0)
            }
        }
    }

    fn demanded_by_core(&self, core: usize) -> u8 {
        let mut rates = [0; Class::ALL.len()];
        for task in self.running[self.cpus(core)].iter().flatten() {
            if let Some(Some((class, rate_permille))) = self.phases.get(*task) {
                rates[*class as usize] += rate_permille;
            }
        }
        let levels = Class::ALL.into_iter().filter(|&class| rates[class as usize] > 0);
        levels.map(|c| self.cpu.level_demanded(c, rates[c as usize])).max().unwrap_or(0)
    }

    /// More than any way up can take: a fall and a widening, then a rise to each level.
    fn longest_rise_ns(&self) -> u64 {
        let table = &self.cpu.license;
        let rises = table.rise.iter().flatten().flatten();
        let longest = rises
            .map(|rise| {
                let stages = rise.stages().iter();
                stages.map(|s| u64::from(s.duration_ns.max(s.duration_few_ns))).sum::<u64>()
            })
            .max()
            .unwrap_or(0);
        let widen = table.widen.duration_ns.max(table.widen.duration_few_ns);
        u64::from(table.fall_halt_ns) + u64::from(widen) + longest * LEVELS_MAX as u64
    }
}

impl Domain {
    /// Whether a level was demanded at any time in `from_ns..to_ns`.
    fn is_demanded(&self, level: u8, from_ns: u64, to_ns: u64) -> bool {
        let mut until_ns = to_ns;
        for &(since_ns, demand) in self.demands.iter().rev() {
            if until_ns <= from_ns {
                return false;
            }
            if demand >= level && since_ns < to_ns {
                return true;
            }
            until_ns = since_ns;
        }
        false
    }
}
