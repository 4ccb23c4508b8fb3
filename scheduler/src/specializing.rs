//! What the loader does for core specialization while the scheduler runs: it publishes the CPUs of
//! wide cores, and passes declarations on.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use scheduler::kinds::declarations::Server;
use scheduler::kinds::{FOLDER, Published, WIDE_CPUS, cpu_list};
use scheduler::load::Running;
use scheduler::topology::Topology;

/// The file is replaced at most this often; our choice.
const PAUSE: Duration = Duration::from_millis(50);

/// The published file and the socket of declarations, as far as they could be made.
pub struct Kinds {
    topology: Topology,
    published: Option<Published>,
    declarations: Option<Server>,
    wide_cpus: Vec<u32>,
    /// When the CPUs were read last; a core has changed since then.
    read: Option<Duration>,
    has_changed: bool,
}

impl Kinds {
    /// Makes the file's folder and the socket. Without them the scheduler runs, and says so.
    pub fn start(topology: &Topology) -> Self {
        let folder = Path::new(FOLDER);
        let declarations = Server::listen(folder).inspect_err(|error| {
            eprintln!("scx_evenkeel: no declarations by `evenkeel exec` in {FOLDER}: {error}");
        });
        let published = Published::in_folder(folder).inspect_err(|error| {
            eprintln!("scx_evenkeel: {FOLDER}/{WIDE_CPUS} is not written: {error}");
        });
        Self {
            topology: topology.clone(),
            published: published.ok(),
            declarations: declarations.ok(),
            wide_cpus: Vec::new(),
            read: None,
            has_changed: true,
        }
    }

    /// The CPUs of wide cores, as a list.
    pub fn wide_cpus(&self) -> String {
        cpu_list(&self.wide_cpus)
    }

    /// Files that become readable when a core changed or a process declares itself.
    pub fn files<'a>(&'a self, running: &'a Running) -> impl Iterator<Item = BorrowedFd<'a>> {
        let declarations = self.declarations.iter().flat_map(Server::files);
        std::iter::once(running.changes()).chain(declarations)
    }

    /// The longest wait until [`Kinds::publish`] has work.
    pub fn patience(&self, period: Duration) -> Duration {
        if self.has_changed { period.min(PAUSE) } else { period }
    }

    /// Publishes the CPUs of wide cores if one has changed, at most once in the pause.
    pub fn publish(&mut self, running: &Running, now: Duration) -> Result<()> {
        self.has_changed |= running.has_changed_cores()?;
        if !self.has_changed || self.read.is_some_and(|before| now < before + PAUSE) {
            return Ok(());
        }
        self.read = Some(now);
        self.has_changed = false;
        self.wide_cpus = running.wide_cpus(&self.topology)?;
        let written = self.published.as_mut().map(|file| file.write(&self.wide_cpus));
        if let Some(Err(error)) = written {
            eprintln!("scx_evenkeel: {FOLDER}/{WIDE_CPUS} is no longer written: {error}");
            self.published = None;
        }
        Ok(())
    }

    /// Passes on what processes declare.
    pub fn answer(&mut self, running: &Running) {
        if let Some(server) = &mut self.declarations {
            server.serve(|process, kind| {
                running.declare(process, kind).map_err(|error| error.to_string())
            });
        }
    }
}
