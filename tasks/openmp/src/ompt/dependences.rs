//! The dependences of tasks, and which task waits for which.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use evenkeel_runtime::Kind;
use evenkeel_runtime::internal::Access;
use evenkeel_runtime::internal::lock_std;

use super::abi::Depends;
use super::callbacks::{DEPENDENCES, TASK_DEPENDENCE};
use super::records::TaskRecord;

/// `ompt_dependence_type_t`.
const IN: i32 = 1;
const INOUT: i32 = 3;
const MUTEXINOUTSET: i32 = 4;
const INOUTSET: i32 = 7;

/// The access of a task that has not ended to an address, among the tasks of one creator.
struct Live {
    creator: *const TaskRecord,
    address: usize,
    kind: Kind,
    task: *const TaskRecord,
}

// SAFETY: a record is read only while it is listed: a task that ends leaves the list first.
unsafe impl Send for Live {}

/// In the order in which they were created. Empty unless the tool wants to hear of pairs.
static LIVE: Mutex<Vec<Live>> = Mutex::new(Vec::new());
/// Whether any task was ever listed, which happens before the task can end.
static IS_KEPT: AtomicBool = AtomicBool::new(false);

fn live() -> MutexGuard<'static, Vec<Live>> {
    lock_std(&LIVE)
}

/// Reports the dependences of a new task.
pub(crate) fn tell(creator: &TaskRecord, task: &TaskRecord, dependences: &[Access]) {
    DEPENDENCES.tell(|function| {
        let all: Vec<Depends> = dependences.iter().map(depends).collect();
        // SAFETY: the tool's function takes this.
        unsafe { function(task.data.get(), all.as_ptr(), all.len() as i32) };
    });
    TASK_DEPENDENCE.tell(|function| {
        IS_KEPT.store(true, Ordering::Relaxed);
        let mut live = live();
        for one in dependences {
            for before in before(&live, creator, one) {
                // SAFETY: the tool's function takes this; a listed task has not ended.
                unsafe { function((*before).data.get(), task.data.get()) };
            }
            let (address, kind) = (one.address(), one.kind());
            live.push(Live { creator, address, kind, task });
        }
    });
}

fn depends(one: &Access) -> Depends {
    let kind = match one.kind() {
        Kind::Read => IN,
        Kind::Commutative => MUTEXINOUTSET,
        Kind::Concurrent => INOUTSET,
        _ => INOUT,
    };
    Depends { variable: one.address() as u64, kind }
}

/// The tasks that an access waits for: the last that wrote the address, or all that have shared the
/// address since.
fn before(live: &[Live], creator: &TaskRecord, one: &Access) -> Vec<*const TaskRecord> {
    let is_here = |other: &&Live| ptr::eq(other.creator, creator) && other.address == one.address();
    let shares = |kind: Kind| kind != Kind::Write && kind == one.kind();
    let mut at =
        live.iter().rev().filter(is_here).skip_while(|other| shares(other.kind)).peekable();
    let Some(kind) = at.peek().map(|other| other.kind) else { return Vec::new() };
    let most = if kind == Kind::Write { 1 } else { usize::MAX };
    at.take_while(|other| other.kind == kind).take(most).map(|other| other.task).collect()
}

/// A task has ended: no other task waits for this one any more.
pub(crate) fn ended(task: &TaskRecord) {
    if IS_KEPT.load(Ordering::Relaxed) {
        live().retain(|other| !ptr::eq(other.task, task));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_waits_for_the_last_that_differ() {
        let tasks: [TaskRecord; 6] =
            std::array::from_fn(|_| TaskRecord::new(0, ptr::null(), ptr::null()));
        let creator = &tasks[0];
        let mut all: Vec<Live> = Vec::new();
        let mut add = |kind, task: &TaskRecord| {
            let one = Access::new(8, kind);
            let before = before(&all, creator, &one);
            all.push(Live { creator, address: 8, kind, task });
            before
                .iter()
                .map(|&task| tasks.iter().position(|t| ptr::eq(t, task)).unwrap())
                .collect()
        };
        let expect = |found: Vec<usize>, expected: &[usize]| assert_eq!(found, expected);
        expect(add(Kind::Write, &tasks[1]), &[]);
        expect(add(Kind::Read, &tasks[2]), &[1]);
        expect(add(Kind::Read, &tasks[3]), &[1]);
        expect(add(Kind::Write, &tasks[4]), &[3, 2]);
        expect(add(Kind::Write, &tasks[5]), &[4]);
    }
}
