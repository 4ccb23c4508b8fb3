//! Reads the sums once an interval, and shows and serves them until the user ends it.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Stdin, Write, stdin};
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cpu_model::CpuModel;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event;
use sensors::sums::By;

use super::collection::Collection;
use super::keys::{Act, Choice, press};
use super::metrics::{About, Metrics};
use super::screen::{self, Setting};
use super::totals::Totals;
use super::view::{Machine, View, view};
use super::{Args, GroupBy, cpu_table, machine, serve, text};
use crate::ending_signals::EndingSignals;
use crate::{files, terminal};

/// What is to be done with each interval.
pub struct Outputs {
    /// Draws a screen.
    pub has_screen: bool,
    /// Prints text.
    pub has_text: bool,
    /// Writes JSON.
    pub json: Option<Box<dyn Write>>,
    /// Serves metrics.
    pub metrics: Option<Arc<Metrics>>,
}

/// Collects and shows.
struct Live<'a> {
    args: &'a Args,
    cpu: Option<CpuModel>,
    is_own_table: bool,
    has_levels: bool,
    by: GroupBy,
    collection: Collection,
    totals: Totals,
    outputs: Outputs,
    scheduler: machine::Scheduler,
    /// The machine's name.
    name: String,
    /// Own CPU time, and when it was read.
    spent: (u64, Instant),
    choice: Choice,
    remark: Option<&'static str>,
}

/// Runs until the user ends it, or for one interval with `--once`.
pub fn run(args: &Args) -> Result<()> {
    // Before any thread starts.
    let signals = EndingSignals::block()?;
    let cpuinfo = machine::cpuinfo();
    let cpu = cpu_table::find(args.cpu.as_deref(), &cpuinfo).context("--cpu")?;
    let is_own_table = cpu.as_ref().is_some_and(|cpu| cpu_table::is_own(cpu, &cpuinfo));
    let outputs = outputs(args, cpu.as_ref(), is_own_table)?;
    let collection = Collection::start(args.by.into(), cpu.as_ref())?;
    let live = Live {
        args,
        cpu,
        is_own_table,
        has_levels: cpu_table::has_levels(&cpuinfo),
        by: args.by,
        collection,
        totals: Totals::default(),
        outputs,
        scheduler: machine::Scheduler::default(),
        name: machine::name(),
        spent: (machine::own_cpu_ns(), Instant::now()),
        choice: Choice::default(),
        remark: None,
    };
    if !live.outputs.has_screen {
        return live.follow(None, &signals);
    }
    // Where the terminal is gone, its drop would panic: it prints an error to that terminal.
    let mut terminal = ManuallyDrop::new(ratatui::try_init().context("setting up the terminal")?);
    let result = live.follow(Some(&mut terminal), &signals);
    let _ = terminal.show_cursor();
    let _ = ratatui::try_restore();
    result
}

/// Whether a person can look and press keys.
fn is_interactive() -> bool {
    stdin().is_terminal() && std::io::stdout().is_terminal()
}

fn outputs(args: &Args, cpu: Option<&CpuModel>, is_own_table: bool) -> Result<Outputs> {
    let json_is_stdout = args.json.as_ref().is_some_and(|path| path.as_os_str() == "-");
    let json = args.json.as_ref().map(|path| -> Result<Box<dyn Write>> {
        if json_is_stdout {
            return Ok(Box::new(std::io::stdout()));
        }
        files::refuse_unwritable(path)?;
        let file = File::create(path).with_context(|| format!("writing {}", path.display()))?;
        Ok(Box::new(BufWriter::new(file)))
    });
    let json = json.transpose()?;
    let metrics = args.prometheus.map(|address| -> Result<Arc<Metrics>> {
        let cpu_table = cpu.map(|cpu| cpu.name.clone());
        let metrics = Arc::new(Metrics::new(About { by: args.by.name(), cpu_table, is_own_table }));
        let bound = serve::start(address, Arc::clone(&metrics))?;
        if args.no_screen || !is_interactive() {
            eprintln!("evenkeel: metrics are at http://{bound}/metrics");
        }
        Ok(metrics)
    });
    let metrics = metrics.transpose()?;
    let may_print = !json_is_stdout && !args.no_screen;
    let has_screen = may_print && !args.once && is_interactive();
    let has_text = may_print && !has_screen && (args.once || metrics.is_none());
    Ok(Outputs { has_screen, has_text, json, metrics })
}

/// Why a wait ended.
#[derive(PartialEq, Eq)]
enum Waited {
    Interval,
    Regroup,
    End,
}

impl Live<'_> {
    fn follow(
        mut self,
        mut screen: Option<&mut DefaultTerminal>,
        signals: &EndingSignals,
    ) -> Result<()> {
        let mut shown = None;
        let mut next = Instant::now();
        loop {
            // After a suspension of the machine no interval is caught up.
            next = (next + self.args.interval).max(Instant::now());
            match self.wait(next, screen.as_deref_mut(), shown.as_mut(), signals)? {
                Waited::End => return Ok(()),
                Waited::Interval => {}
                Waited::Regroup => {
                    self.regroup()?;
                    next = Instant::now();
                    continue;
                }
            }
            let view = self.read()?;
            self.write(&view)?;
            if self.args.once {
                return Ok(());
            }
            if !self.choice.is_paused {
                shown = Some(view);
            }
            if let (Some(terminal), Some(view)) = (screen.as_deref_mut(), &mut shown) {
                self.remark = None;
                self.draw(terminal, view)?;
            }
        }
    }

    /// Reads the sums, and adds them to the totals.
    fn read(&mut self) -> Result<View> {
        let steps = self.collection.step()?;
        if let Some(metrics) = &self.outputs.metrics {
            self.totals.add(&steps, self.collection.names());
            metrics.set(&self.totals, machine::own_cpu_ns());
        }
        let has_view = self.outputs.has_screen || self.outputs.has_text;
        if !has_view && self.outputs.json.is_none() {
            return Ok(View::default());
        }
        let clocks = machine::clocks_mhz(steps.cpus.len());
        let machine = self.machine();
        let mut view = view(&steps, self.collection.names(), machine, &clocks);
        view.sort(self.choice.sort);
        Ok(view)
    }

    fn machine(&mut self) -> Machine {
        let (before_ns, since) = self.spent;
        self.spent = (machine::own_cpu_ns(), Instant::now());
        let passed_ns = since.elapsed().as_nanos().max(1) as f64;
        Machine {
            machine: self.name.clone(),
            scheduler: machine::scheduler(),
            by: self.by.name(),
            cpu_table: self.cpu.as_ref().map(|cpu| cpu.name.clone()),
            is_own_table: self.is_own_table,
            has_levels: self.has_levels,
            own_cpu_pct: self.spent.0.saturating_sub(before_ns) as f64 * 100.0 / passed_ns,
            given_back: self.scheduler.given_back(),
        }
    }

    /// Writes what is no screen.
    fn write(&mut self, view: &View) -> Result<()> {
        if let Some(json) = &mut self.outputs.json {
            let line = serde_json::to_string(view)? + "\n";
            json.write_all(line.as_bytes()).and_then(|()| json.flush()).context("writing JSON")?;
        }
        if self.outputs.has_text {
            let end = if self.args.once { "" } else { "\n" };
            terminal::print(&(text::text(view) + end))?;
        }
        Ok(())
    }

    fn draw(&mut self, terminal: &mut DefaultTerminal, view: &mut View) -> Result<()> {
        view.sort(self.choice.sort);
        let setting =
            Setting { choice: &self.choice, has_color: terminal::color(), remark: self.remark };
        let mut scrolled = 0;
        let drawn = terminal.draw(|frame| scrolled = screen::draw(frame, view, &setting));
        drawn.context("drawing on the terminal")?;
        self.choice.scrolled = scrolled;
        Ok(())
    }

    /// Waits until `until`, or for what ends the wait before. Keys act at once.
    fn wait(
        &mut self,
        until: Instant,
        mut screen: Option<&mut DefaultTerminal>,
        mut shown: Option<&mut View>,
        signals: &EndingSignals,
    ) -> Result<Waited> {
        let stdin = stdin();
        loop {
            if let Some(terminal) = screen.as_deref_mut() {
                match self.keys(&stdin)? {
                    Act::Quit => return Ok(Waited::End),
                    Act::Regroup => return Ok(Waited::Regroup),
                    Act::Ignore => {}
                    Act::Draw => {
                        if let Some(view) = shown.as_deref_mut() {
                            self.draw(terminal, view)?;
                        }
                    }
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Waited::Interval);
            }
            let mut files = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
            if screen.is_some() {
                files.push(PollFd::new(stdin.as_fd(), PollFlags::POLLIN));
            }
            let timeout = PollTimeout::try_from(left + Duration::from_millis(1));
            match poll(&mut files, timeout.unwrap_or(PollTimeout::MAX)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error).context("waiting for the next interval"),
            }
            if files[0].any() == Some(true) {
                return Ok(Waited::End);
            }
        }
    }

    /// Takes all keys that were pressed, and returns what the last of weight asks for; a terminal
    /// that is gone asks for the end.
    fn keys(&mut self, stdin: &Stdin) -> Result<Act> {
        let mut asked = Act::Ignore;
        loop {
            if is_hung_up(stdin)? {
                return Ok(Act::Quit);
            }
            if !event::poll(Duration::ZERO).context("reading keys")? {
                return Ok(asked);
            }
            match press(&mut self.choice, &event::read().context("reading keys")?) {
                Act::Regroup if self.outputs.metrics.is_some() => {
                    self.remark = Some("groups stay as they are while metrics are served");
                    asked = Act::Draw;
                }
                act @ (Act::Quit | Act::Regroup) => return Ok(act),
                Act::Draw => {
                    self.remark = None;
                    asked = Act::Draw;
                }
                Act::Ignore => {}
            }
        }
    }

    /// Begins anew with the other kind of groups.
    fn regroup(&mut self) -> Result<()> {
        self.by = self.by.other();
        self.collection = Collection::start(self.by.into(), self.cpu.as_ref())?;
        Ok(())
    }
}

/// Whether the terminal is gone. crossterm 0.29 would read its end of file again and again, and
/// never come back to where signals are looked at.
fn is_hung_up(stdin: &Stdin) -> Result<bool> {
    let mut files = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    match poll(&mut files, PollTimeout::ZERO) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(error) => return Err(error).context("looking for keys"),
    }
    let ends = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
    Ok(files[0].revents().is_some_and(|found| found.intersects(ends)))
}

impl From<GroupBy> for By {
    fn from(by: GroupBy) -> Self {
        match by {
            GroupBy::Process => Self::Process,
            GroupBy::ControlGroup => Self::ControlGroup,
        }
    }
}
