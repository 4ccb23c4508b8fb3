//! Queries of an instance, for callers and tests.

use crate::host::Host;
use crate::layout::Field;
use crate::state::Counts;

impl Host {
    /// The running task of a CPU; `None` while the CPU idles.
    #[must_use]
    pub fn current(&self, cpu: usize) -> Option<usize> {
        self.state().cpus[cpu].current
    }

    /// Takes the list of CPUs that have to choose again, in ascending order.
    pub fn take_reschedules(&mut self) -> Vec<usize> {
        let mut state = self.state();
        let cpus = state.cpus.iter_mut().enumerate();
        cpus.filter_map(|(index, cpu)| std::mem::take(&mut cpu.needs_reschedule).then_some(index))
            .collect()
    }

    /// Numbers of events so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.state().counts
    }

    /// Takes the messages that the scheduler printed since the last call.
    pub fn take_printed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.state().printed)
    }

    /// The virtual runtime of a task (`scx.dsq_vtime`).
    #[must_use]
    pub fn vtime(&self, task: usize) -> u64 {
        self.state().get(task, Field::Vtime)
    }

    /// The remaining slice of a task, in ns.
    #[must_use]
    pub fn slice_ns(&self, task: usize) -> u64 {
        self.state().get(task, Field::Slice)
    }

    /// In how many queues a task is; a CPU that runs the task counts as one.
    #[must_use]
    pub fn places_of(&self, task: usize) -> usize {
        let state = self.state();
        let queues = state.dsqs.iter().flatten();
        let waits = queues.map(|dsq| dsq.tasks().filter(|&other| other == task).count());
        let runs = state.cpus.iter().filter(|cpu| cpu.current == Some(task)).count();
        waits.sum::<usize>() + runs
    }

    /// Whether a task waits for a CPU.
    #[must_use]
    pub fn waits(&self, task: usize) -> bool {
        let state = self.state();
        let one = &state.tasks[task];
        one.is_queued && state.cpus[one.cpu].current != Some(task)
    }

    /// Whether a waiting task could run on a CPU now. A task in the local queue of another CPU
    /// could not.
    #[must_use]
    pub fn may_run_on(&self, task: usize, cpu: usize) -> bool {
        let state = self.state();
        let one = &state.tasks[task];
        let is_there = state.cpus[cpu].is_active && state.cpus[one.cpu].is_active;
        let is_given = one.dsq.is_some_and(|dsq| dsq < state.cpus.len());
        let may_come = one.cpu == cpu || !is_given && !state.may_not_migrate(task);
        is_there && may_come && one.allowed.contains(cpu)
    }

    /// CPU, queue and affinity mask of a task, for messages.
    #[must_use]
    pub fn describe(&self, task: usize) -> String {
        let state = self.state();
        let one = &state.tasks[task];
        let queue =
            one.dsq.map_or("no queue".to_owned(), |dsq| format!("queue {:#x}", state.dsq(dsq).id));
        let cpus = one.allowed.iter(state.cpus.len());
        let cpus: Vec<String> = cpus.map(|cpu| cpu.to_string()).collect();
        let (name, cpu) = (state.label(task), one.cpu);
        format!("{name} of CPU {cpu} in {queue}, allowed on {}", cpus.join(","))
    }

    /// Whether a CPU may get tasks.
    #[must_use]
    pub fn is_active(&self, cpu: usize) -> bool {
        self.state().cpus[cpu].is_active
    }

    /// The value of a task in a map of task storage, if the map has one.
    #[must_use]
    pub fn storage(&self, map: &str, task: usize) -> Option<Vec<u8>> {
        let state = self.state();
        let map = state.maps.find(map)?;
        state.maps.stored(map, task).map(<[u8]>::to_vec)
    }
}
