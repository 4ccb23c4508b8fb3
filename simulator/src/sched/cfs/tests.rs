use super::*;

const CPUS: usize = 8;
const MS: u64 = 1_000_000;

fn cfs(weights: &[u64]) -> Cfs {
    Cfs::with(CPUS, weights.iter().copied(), size_factor(CPUS), CfsKernel::V5_9)
}

/// Runs task 0 alone on CPU 0 for that time.
fn run_first(cfs: &mut Cfs, ms: u64) {
    cfs.enqueue(0, 0, Enqueue::New);
    assert_eq!(cfs.pick(0, 0), Choice::Run(0));
    cfs.update(0, ms * MS);
}

#[test]
fn a_sleeper_is_credited_half_the_latency_at_most() {
    let mut cfs = cfs(&[1024, 1024]);
    run_first(&mut cfs, 500);
    cfs.enqueue(0, 1, Enqueue::Woken);
    let ahead = cfs.tasks[0].vruntime - cfs.tasks[1].vruntime;
    assert_eq!(ahead, 12 * MS as i64);
}

#[test]
fn a_short_sleeper_keeps_its_virtual_time() {
    let mut cfs = cfs(&[1024, 1024]);
    run_first(&mut cfs, 5);
    cfs.tasks[1].vruntime = cfs.tasks[0].vruntime - 3;
    cfs.enqueue(0, 1, Enqueue::Woken);
    assert_eq!(cfs.tasks[0].vruntime - cfs.tasks[1].vruntime, 3);
}

#[test]
fn a_new_task_waits_for_a_slice() {
    let mut cfs = cfs(&[1024, 1024]);
    run_first(&mut cfs, 1);
    cfs.enqueue(0, 1, Enqueue::New);
    let debit = cfs.tasks[1].vruntime - cfs.tasks[0].vruntime;
    assert!((debit - 12 * MS as i64).abs() < 100, "{debit}");
}

#[test]
fn a_waker_preempts_only_from_more_than_the_granularity_behind() {
    for (behind_ns, preempts) in [(4 * MS as i64, false), (4 * MS as i64 + 1, true)] {
        let mut cfs = cfs(&[1024, 1024]);
        run_first(&mut cfs, 100);
        cfs.tasks[1].vruntime = cfs.tasks[0].vruntime - behind_ns;
        cfs.enqueue(0, 1, Enqueue::Woken);
        assert_eq!(cfs.preempts(0, 1), preempts, "{behind_ns}");
    }
}

#[test]
fn a_preempted_task_gets_the_cpu_back_when_many_wait() {
    let weights = [1024; 9];
    let mut cfs = cfs(&weights);
    for task in 0..8 {
        cfs.enqueue(0, task, Enqueue::New);
    }
    let Choice::Run(running) = cfs.pick(0, 0) else { panic!("a task") };
    cfs.update(0, MS);
    // The others stand where the running one does, so that only the buddy decides.
    cfs.enqueue(0, 8, Enqueue::Woken);
    assert!(cfs.preempts(0, 8));
    assert!(cfs.put(0, running, Stop::Preempted));
    assert_eq!(cfs.pick(0, MS), Choice::Run(8));
    cfs.update(0, MS + 100);
    assert!(!cfs.put(0, 8, Stop::Blocked));
    assert_eq!(cfs.pick(0, MS + 100), Choice::Run(running));
}

#[test]
fn a_task_that_changes_queues_keeps_its_distance_to_the_least() {
    let mut cfs = cfs(&[1024, 1024, 1024]);
    run_first(&mut cfs, 300);
    cfs.enqueue(0, 1, Enqueue::Woken);
    let before = cfs.tasks[1].vruntime - cfs.queues[0].min_vruntime;
    cfs.dequeue(0, 1);
    cfs.enqueue(3, 1, Enqueue::Moved);
    assert_eq!(cfs.tasks[1].vruntime - cfs.queues[3].min_vruntime, before);
    assert!(cfs.queues[0].min_vruntime > 100 * MS as i64);
    assert!(cfs.tasks[1].vruntime <= 0);
}

#[test]
fn the_least_virtual_time_never_falls() {
    let mut cfs = cfs(&[1024, 335, 88761, 15, 1024, 2048]);
    let mut draws = crate::random::Stream::new(7, crate::random::Purpose::Scheduler, 0);
    let mut queued = [false; 6];
    let mut now_ns = 0;
    let mut least = i64::MIN;
    for _ in 0..5_000 {
        now_ns += draws.below(3 * MS);
        cfs.update(0, now_ns);
        let task = draws.below(6) as usize;
        let running = cfs.queues[0].running;
        if !queued[task] {
            cfs.enqueue(0, task, Enqueue::Woken);
            queued[task] = true;
        } else if running == Some(task) {
            queued[task] = cfs.put(0, task, Stop::Blocked);
        }
        let _ = cfs.pick(0, now_ns);
        assert!(cfs.queues[0].min_vruntime >= least);
        least = cfs.queues[0].min_vruntime;
    }
    assert!(least > 0);
}
