//! Opens the counters that are read at each switch.

use std::os::fd::OwnedFd;

use super::counted::{COUNTED, counted};
use crate::pmu::{Code, Group, Microarchitecture, Question, Refusal, code};

/// Without these no loss can be told.
const NEEDED: [Question; 3] = [Question::License1, Question::License2, Question::Cycles];

/// Open counters of all CPUs. A recorder that was started with them keeps them open.
#[derive(Debug)]
pub struct Counters {
    questions: Vec<Question>,
    /// CPU, position among [`COUNTED`], and the counter: a group of one event, since BPF programs
    /// read each by itself.
    open: Vec<(u32, usize, Group)>,
}

impl Counters {
    /// Opens, on every CPU that is online, the counters of license levels and as many others as
    /// find room.
    ///
    /// # Errors
    /// Why this CPU cannot count cycles by license level now.
    pub fn open(
        cpu: Option<&Microarchitecture>,
        hyper_threading: bool,
        online: &[u32],
    ) -> Result<Self, Refusal> {
        let known = cpu.ok_or(Refusal::UnknownCpu)?;
        let questions = counted(known, hyper_threading);
        if questions.is_empty() {
            return Err(Refusal::NoEvent);
        }
        let codes = questions.into_iter().map(|it| Ok((it, code(cpu, it)?)));
        Self::of(&codes.collect::<Result<Vec<_>, _>>()?, online)
    }

    /// Opens events for questions of [`COUNTED`], whatever answers them.
    ///
    /// # Errors
    /// Why a counter that is needed does not open, or does not count.
    pub fn of(codes: &[(Question, Code)], online: &[u32]) -> Result<Self, Refusal> {
        let mut counters = Self { questions: Vec::new(), open: Vec::new() };
        for &(question, code) in codes {
            let Some(position) = COUNTED.iter().position(|&it| it == question) else { continue };
            match open_on_all(code, online) {
                Ok(groups) => {
                    counters.questions.push(question);
                    let placed = groups.into_iter().map(|(cpu, group)| (cpu, position, group));
                    counters.open.extend(placed);
                }
                Err(refusal) if NEEDED.contains(&question) => return Err(refusal),
                // Another program has the counter.
                Err(_) => {}
            }
        }
        Ok(counters)
    }

    /// What is counted.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// CPU, position among [`COUNTED`] and file of each counter.
    pub(super) fn files(&self) -> impl Iterator<Item = (u32, usize, &OwnedFd)> {
        self.open.iter().map(|(cpu, position, group)| (*cpu, *position, group.leader()))
    }
}

/// A counter of the event on each CPU that is online.
fn open_on_all(code: Code, online: &[u32]) -> Result<Vec<(u32, Group)>, Refusal> {
    let mut groups = Vec::new();
    for &cpu in online {
        match Group::open(&[code], cpu).map_err(|(_, refusal)| refusal) {
            Ok(group) => {
                group.read().map_err(|_| Refusal::Taken)?;
                groups.push((cpu, group));
            }
            Err(Refusal::CpuOffline) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(groups)
}
