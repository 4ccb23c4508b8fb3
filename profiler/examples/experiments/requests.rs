//! When requests came and when they were answered, from switches alone.

/// CPU time from which a stay of a server is one of a request: a switch and a migration of 256 KiB
/// take up to 20 us beside a busy sibling, requests more than 90.
const REQUEST_MIN_NS: u64 = 60_000;

/// Time on a CPU without progress from which a request counts as hit by a pause of 0.7 ms.
const HIT_MIN_NS: u64 = 500_000;

/// Latencies of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Latencies {
    /// From when each request was to be sent until its answer, ascending.
    pub sorted_ns: Vec<u64>,
    /// Requests whose server stood still for long.
    pub hit: usize,
}

/// Follows clients and servers. A client wakes, sends one request and sleeps; a server blocks after
/// each request.
pub struct Requests {
    /// By task.
    is_client: Vec<bool>,
    /// By CPU.
    running: Vec<Option<u32>>,
    /// By task.
    stays: Vec<Option<Stay>>,
    /// Requests: when they were sent, and when the client was to send them.
    sent_ns: Vec<(u64, u64)>,
    /// Beginning and end of the answers.
    answered_ns: Vec<(u64, u64)>,
    hit: usize,
}

/// A task's time from a wake-up until it blocks, on one CPU or several.
#[derive(Clone, Copy)]
struct Stay {
    runnable_ns: u64,
    began_ns: u64,
    left_ns: u64,
    /// CPU time, without pauses.
    busy_ns: u64,
    /// Whether it is the first of its task: clients begin with a sleep.
    is_first: bool,
}

impl Requests {
    /// An observer of `cpus` CPUs; `is_client` is by task.
    pub fn new(is_client: Vec<bool>, cpus: usize) -> Self {
        Self {
            stays: vec![None; is_client.len()],
            is_client,
            running: vec![None; cpus],
            sent_ns: Vec::new(),
            answered_ns: Vec::new(),
            hit: 0,
        }
    }

    /// A CPU goes over to a task that was runnable for so long, or to none.
    pub fn switched(&mut self, now_ns: u64, cpu: u32, task: Option<u32>, waited_ns: u64) {
        let previous = std::mem::replace(&mut self.running[cpu as usize], task);
        if let Some(stay) = previous.and_then(|task| self.stays[task as usize].as_mut()) {
            stay.left_ns = now_ns;
        }
        let Some(task) = task.map(|task| task as usize) else { return };
        let runnable_ns = now_ns - waited_ns;
        // A task that was preempted has been runnable since it left its CPU.
        if self.stays[task].is_some_and(|stay| stay.left_ns == runnable_ns) {
            return;
        }
        self.end(task);
        let is_first = self.stays[task].is_none();
        let (left_ns, busy_ns) = (0, 0);
        self.stays[task] = Some(Stay { runnable_ns, began_ns: now_ns, left_ns, busy_ns, is_first });
    }

    /// A task had a CPU for so long.
    pub fn ran(&mut self, task: u32, time_ns: u64) {
        if let Some(stay) = &mut self.stays[task as usize] {
            stay.busy_ns += time_ns;
        }
    }

    fn end(&mut self, task: usize) {
        let Some(stay) = self.stays[task] else { return };
        if self.is_client[task] && !stay.is_first {
            self.sent_ns.push((stay.left_ns, stay.runnable_ns));
        } else if !self.is_client[task] && stay.busy_ns >= REQUEST_MIN_NS {
            self.answered_ns.push((stay.began_ns, stay.left_ns));
            let still_ns = stay.left_ns - stay.began_ns - stay.busy_ns;
            self.hit += usize::from(still_ns >= HIT_MIN_NS);
        }
    }

    /// Requests are answered in the order in which they were sent; those that the run's end cuts
    /// off, at most one a server, are left out.
    ///
    /// # Errors
    /// When a request was answered too soon, or is lost: switches were misread.
    pub fn latencies(mut self) -> Result<Latencies, String> {
        let is_running = |task: usize| self.running.contains(&Some(task as u32));
        let gone: Vec<usize> = (0..self.stays.len()).filter(|&task| !is_running(task)).collect();
        gone.into_iter().for_each(|task| self.end(task));
        self.answered_ns.sort_unstable();
        self.sent_ns.sort_unstable();
        let servers = self.is_client.iter().filter(|&&is_client| !is_client).count();
        let (sent, answered) = (self.sent_ns.len(), self.answered_ns.len());
        if answered > sent || sent - answered > servers {
            return Err(format!("{answered} of {sent} requests were answered"));
        }
        let mut sorted_ns = Vec::new();
        for (&(sent_ns, wanted_ns), &(_, ended_ns)) in self.sent_ns.iter().zip(&self.answered_ns) {
            if ended_ns < sent_ns + REQUEST_MIN_NS {
                return Err(format!("the request of {sent_ns} ns was answered at {ended_ns} ns"));
            }
            sorted_ns.push(ended_ns - wanted_ns);
        }
        sorted_ns.sort_unstable();
        Ok(Latencies { sorted_ns, hit: self.hit })
    }
}
