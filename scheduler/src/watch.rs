//! The loader's loop while the scheduler runs: waits for signals, for requests of names and of
//! statistics, and checks the end, the counters and the control groups at intervals.

use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signalfd::SignalFd;

use scheduler::cgroups::{self, Listed};
use scheduler::counters::Counter;
use scheduler::interface::{End, HardwareEvent};
use scheduler::load::Running;
use scheduler::sensors::given_up::{GivenUp, Group, Step};
use scheduler::stats::socket::{PATH, Server};
use scheduler::stats::{Snapshot, line, report};
use scheduler::topology::Topology;

use crate::setup::Setup;
use crate::specializing::Kinds;
use crate::{Args, decisions};

/// How often the loader checks whether the kernel ended the scheduler; our choice.
const POLL_PERIOD: Duration = Duration::from_millis(500);
/// How often the loader checks whether other programs took counters.
const COUNTERS: Duration = Duration::from_secs(1);
/// How often the loader checks whether control groups have settings of CPU time; less often where a
/// check takes more than a hundredth of this time, as with thousands of groups.
const CGROUPS: Duration = Duration::from_secs(1);
/// The pause after a check, in units of the time that the check took.
const CGROUPS_REST: u32 = 100;
/// Checks in a row that may fail, as while the system has no open file left.
const CGROUPS_FAILURES: u32 = 10;

/// The state of the loop.
struct Watch<'a> {
    setup: &'a Setup,
    running: &'a Running,
    start: Instant,
    server: Option<Server>,
    given_up: GivenUp,
    /// Groups that a message has named as given up.
    said: Vec<Group>,
    printed: Snapshot,
    decisions: Option<decisions::File>,
    /// With core specialization.
    kinds: Option<Kinds>,
    /// Whether a program switched core specialization off.
    is_switched_off: bool,
}

/// Runs the loop until the end; `None` if a signal or `--for` ended the scheduler, and not the
/// kernel.
pub fn watch(
    args: &Args,
    setup: &Setup,
    signals: &SignalFd,
    running: &Running,
    topology: &Topology,
    decisions: Option<decisions::File>,
) -> Result<Option<End>> {
    let server = Server::listen(Path::new(PATH), setup.is_specialized())
        .inspect_err(|error| eprintln!("scx_evenkeel: no statistics on {PATH}: {error}"));
    let mut watch = Watch {
        setup,
        running,
        start: Instant::now(),
        server: server.ok(),
        given_up: GivenUp::nothing_of(&setup.counters.groups()),
        said: Vec::new(),
        printed: Snapshot::default(),
        decisions,
        kinds: setup.is_specialized().then(|| Kinds::start(topology)),
        is_switched_off: false,
    };
    let end = watch.until_end(args, signals);
    watch.end_decisions()?;
    end
}

impl Watch<'_> {
    fn until_end(&mut self, args: &Args, signals: &SignalFd) -> Result<Option<End>> {
        let period = if args.decisions.is_some() { decisions::EVERY } else { POLL_PERIOD };
        let mut next_stats = args.stats;
        let mut next_counters = COUNTERS;
        let mut unreadable = 0;
        let mut next_cgroups = (!args.ignore_cgroups).then_some(CGROUPS);
        loop {
            if let Some(end) = self.running.end()? {
                return Ok(Some(end));
            }
            let now = self.start.elapsed();
            if next_stats.is_some_and(|time| time <= now) {
                self.print()?;
                next_stats = args.stats.map(|every| now + every);
            }
            self.take_decisions()?;
            if let Some(kinds) = &mut self.kinds {
                kinds.publish(self.running, now)?;
            }
            if next_counters <= now {
                self.update_counters(now)?;
                next_counters = now + COUNTERS;
            }
            if next_cgroups.is_some_and(|time| time <= now) {
                check_cgroups(&mut unreadable)?;
                let took = self.start.elapsed().saturating_sub(now);
                next_cgroups = Some(now + CGROUPS.max(took * CGROUPS_REST));
            }
            let left = args.duration.map(|limit| limit.saturating_sub(now));
            if left == Some(Duration::ZERO) {
                return Ok(None);
            }
            let period = self.kinds.as_ref().map_or(period, |kinds| kinds.patience(period));
            let until_stats = next_stats.map_or(period, |time| time.saturating_sub(now));
            if self.wait(signals, left.unwrap_or(period).min(period).min(until_stats))? {
                return Ok(None);
            }
        }
    }

    /// Waits, answers requests, and returns whether a signal came.
    fn wait(&mut self, signals: &SignalFd, time: Duration) -> Result<bool> {
        let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO);
        let mut files = vec![signals.as_fd(), self.running.asks()];
        files.extend(self.server.iter().flat_map(Server::files));
        files.extend(self.kinds.iter().flat_map(|kinds| kinds.files(self.running)));
        let mut polled: Vec<_> =
            files.into_iter().map(|file| PollFd::new(file, PollFlags::POLLIN)).collect();
        match poll(&mut polled, timeout) {
            // This process was stopped and continued.
            Err(Errno::EINTR) => return Ok(false),
            result => result.context("waiting for signals")?,
        };
        let is_ready = |file: &PollFd| file.any().unwrap_or(true);
        let [signal, asked, others @ ..] = &polled[..] else { return Ok(true) };
        let (signal, asked) = (is_ready(signal), is_ready(asked));
        let is_asked = others.iter().any(is_ready);
        if asked {
            self.answer_names()?;
        }
        if is_asked {
            self.answer_statistics()?;
            if let Some(kinds) = &mut self.kinds {
                kinds.answer(self.running);
            }
        }
        Ok(signal)
    }

    fn take_decisions(&mut self) -> Result<()> {
        match &mut self.decisions {
            Some(file) => file.take(&self.running.decisions()?),
            None => Ok(()),
        }
    }

    fn end_decisions(&mut self) -> Result<()> {
        self.take_decisions()?;
        if let Some(file) = self.decisions.take() {
            let lost = self.running.counts()?[Counter::DecisionsLost as usize];
            let slices = file.finish(lost)?;
            eprintln!("scx_evenkeel: {slices} decisions written, {lost} lost");
        }
        Ok(())
    }

    fn answer_names(&self) -> Result<()> {
        for names in self.running.asked()? {
            if let Some((rules, model)) = &self.setup.rules {
                self.running.answer(&names, names.answer(rules, model))?;
            }
        }
        Ok(())
    }

    fn answer_statistics(&mut self) -> Result<()> {
        let now = self.snapshot()?;
        let about = &self.setup.about;
        if let Some(server) = &mut self.server {
            server.serve(&now, |now, before| report(about, now, before));
        }
        self.switch_specialization()
    }

    /// Follows the requests of the programs that are connected.
    fn switch_specialization(&mut self) -> Result<()> {
        let is_off = self.server.as_ref().is_some_and(Server::wants_specialization_off);
        if is_off != self.is_switched_off {
            self.running.switch_specialization(!is_off)?;
            self.is_switched_off = is_off;
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let bits = self.given_up.bits();
        let is_open = |event: &HardwareEvent| {
            self.setup.counters.files().any(|(_, other, _)| other == *event)
        };
        let is_given_up = |event: &HardwareEvent| bits >> *event as u32 & 1 != 0 && is_open(event);
        Ok(Snapshot {
            since_start: self.start.elapsed(),
            counts: self.running.counts()?,
            wide_cpus: self.kinds.as_ref().map(Kinds::wide_cpus).unwrap_or_default(),
            is_switched_off: self.is_switched_off,
            given_up: HardwareEvent::ALL
                .iter()
                .filter(|event| is_given_up(event))
                .map(|event| event.question().name())
                .collect(),
        })
    }

    fn print(&mut self) -> Result<()> {
        let now = self.snapshot()?;
        println!("{}", line(&now, &self.printed, self.setup.about.cpus));
        self.printed = now;
        Ok(())
    }

    /// Gives up the counters that other programs took, and takes them back.
    fn update_counters(&mut self, now: Duration) -> Result<()> {
        let counters = &self.setup.counters;
        let taken = counters.taken(&self.given_up.held());
        match self.given_up.step(now.as_secs(), &taken) {
            None => return Ok(()),
            Some(Step::TakeBack(group)) => counters.take_back(group),
            Some(Step::GiveUp(group, seconds)) => {
                counters.give_up(group);
                // The remaining counters may have been in error state for lack of the ones that are
                // disabled now: enabling ends that state.
                self.given_up.held().into_iter().for_each(|group| counters.take_back(group));
                if !self.said.contains(&group) {
                    self.said.push(group);
                    let without = group.without();
                    eprintln!(
                        "scx_evenkeel: others use the PMU; given up for {seconds} s or longer: \
                         {without}"
                    );
                }
            }
        }
        Ok(self.running.give_up(self.given_up.bits())?)
    }
}

/// An error if a control group has a setting, which has no effect under this scheduler, or if one
/// more check in a row failed than [`CGROUPS_FAILURES`].
fn check_cgroups(unreadable: &mut u32) -> Result<()> {
    let settings = match cgroups::settings() {
        Err(_) if *unreadable < CGROUPS_FAILURES => {
            *unreadable += 1;
            return Ok(());
        }
        settings => settings?,
    };
    *unreadable = 0;
    if settings.is_empty() {
        return Ok(());
    }
    bail!(
        "control groups were given weights or limits, which scx_evenkeel cannot honour yet; the \
         kernel's own scheduler has the tasks again:{}\nstart with --ignore-cgroups to schedule \
         without their effect",
        Listed(&settings)
    )
}
