//! A virtual machine that boots a kernel, runs jobs and switches itself off.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use kernels::Tsc;

use crate::child;
use crate::error::{LabError, at, finish};
use crate::kernel::Kernel;
use crate::log::complaints;
use crate::share::{Folder, Kind, option};
use crate::vcpus::HostTime;
use crate::{initramfs, modules};

/// How a kernel is run.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Virtual CPUs; a multiple of the threads.
    pub cpus: u32,
    /// Virtual CPUs that are siblings on a core.
    pub threads_per_core: u32,
    /// Memory in MiB, including all files that the guest writes to its root.
    pub memory_mib: u32,
    /// The executor of the guest's instructions.
    pub accelerator: Accelerator,
    /// Time of the guest that each job may take.
    pub job_limit: Duration,
    /// Time of the host after which the machine is killed.
    pub limit: Duration,
}

/// The executor of a guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// The CPU itself.
    Kvm,
    /// QEMU's interpreter: code of the guest takes many times as long as code of the host.
    Tcg {
        /// Seconds of the host in a second of the guest, so that the guest's work bears about the
        /// same relation to its clock as on hardware; 1: none.
        dilation: u32,
    },
    /// QEMU's interpreter with all virtual CPUs in one thread, one after the other: slower, and
    /// none keeps code that another has changed.
    InTurns,
    /// QEMU's interpreter with a clock that each instruction of the guest advances by 1 ns: times
    /// of a guest that is never idle are numbers of instructions. One virtual CPU.
    Counting,
}

/// A shell script to run in the guest, as root.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name of the job and of its folder among the results, in which the job starts.
    pub name: String,
    /// The script, with its first line.
    pub script: String,
}

/// The results of a job.
#[derive(Clone, Debug)]
pub struct Done {
    /// Exit status; 137 after its time limit, `None` for a job that never ended.
    pub status: Option<i32>,
    /// The kernel's log during the job.
    pub kernel_log: String,
    /// The guest's time for the job; `None` for a job that never ended.
    pub duration: Option<Duration>,
}

/// The results of a machine.
#[derive(Clone, Debug)]
pub struct Run {
    /// The jobs, in order.
    pub jobs: Vec<Done>,
    /// The kernel's log before the first job.
    pub boot_log: String,
    /// Host time of the virtual CPUs.
    pub host_time: HostTime,
    /// Number of restarts with all jobs, after QEMU's interpreter broke the machine.
    pub restarts: u32,
}

impl Run {
    /// Kernel messages that report a fault, from boot to the last job.
    #[must_use]
    pub fn complaints(&self) -> Vec<&str> {
        let jobs = self.jobs.iter().map(|done| &done.kernel_log);
        std::iter::once(&self.boot_log).chain(jobs).flat_map(|log| complaints(log)).collect()
    }
}

/// The time within which a kernel that works with KVM switches itself off.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// How often a machine that its interpreter breaks is started again: on some hosts every second is.
const RESTARTS_MAX: u32 = 8;
/// QEMU before 8.1 translates code without a lock on its page. While a kernel changes an
/// instruction behind a breakpoint, for example to load a scheduler, another CPU may then keep
/// that breakpoint, which the kernel has forgotten.
const STALE_BREAKPOINT: &str = "Oops: int3";
const PANIC: &str = "Kernel panic";

/// Whether the interpreter broke a machine: by a stale breakpoint, or with a panic before the first
/// job, for until then nothing runs in the machine but its kernel.
fn broke(console: &str, results: &Path) -> bool {
    let has_begun = results.join("boot.log").exists();
    console.contains(STALE_BREAKPOINT) || (console.contains(PANIC) && !has_begun)
}

impl Accelerator {
    /// KVM if this kernel switches itself off under KVM, else the interpreter.
    ///
    /// # Errors
    /// [`LabError`]; a host without KVM is no error.
    pub fn best(kernel: &Kernel) -> Result<Self, LabError> {
        let tcg = Self::Tcg { dilation: 1 };
        if File::options().read(true).write(true).open("/dev/kvm").is_err() {
            return Ok(tcg);
        }
        let probe = Machine {
            cpus: 1,
            threads_per_core: 1,
            memory_mib: 512,
            accelerator: Self::Kvm,
            job_limit: PROBE_LIMIT,
            limit: PROBE_LIMIT,
        };
        let results = tempfile::tempdir().map_err(at(Path::new("a folder for a machine")))?;
        match probe.run(kernel, &[], results.path()) {
            Ok(_) => Ok(Self::Kvm),
            Err(LabError::Unfinished { .. }) => Ok(tcg),
            Err(other) => Err(other),
        }
    }

    fn dilation(self) -> u32 {
        match self {
            Self::Kvm | Self::InTurns | Self::Counting => 1,
            Self::Tcg { dilation } => dilation,
        }
    }
}

impl Machine {
    /// Boots the kernel and runs the jobs, one after the other. `results` gets a folder for each,
    /// emptied before, with `stdout`, `stderr`, `status` and `kernel.log`, and beside them
    /// `boot.log` and `console.log`. Programs that the caller puts into its folder `bin` are found
    /// first.
    ///
    /// A machine that its interpreter broke starts again, with all jobs; [`Run::restarts`] says how
    /// often.
    ///
    /// # Errors
    /// [`LabError`]; a job that fails or exceeds its time is none.
    pub fn run(&self, kernel: &Kernel, jobs: &[Job], results: &Path) -> Result<Run, LabError> {
        let mut restarts = 0;
        loop {
            let end = self.start(kernel, jobs, results);
            let is_broken = matches!(&end, Err(LabError::Unfinished { console, .. })
                if self.is_interpreted() && broke(&text(console), results));
            if !is_broken || restarts == RESTARTS_MAX {
                return end.map(|run| Run { restarts, ..run });
            }
            restarts += 1;
        }
    }

    fn is_interpreted(&self) -> bool {
        self.accelerator != Accelerator::Kvm
    }

    fn start(&self, kernel: &Kernel, jobs: &[Job], results: &Path) -> Result<Run, LabError> {
        let room = tempfile::tempdir().map_err(at(Path::new("a folder for the machine")))?;
        let initramfs = room.path().join("initramfs");
        write_initramfs(kernel, jobs, &initramfs)?;
        for job in jobs {
            let folder = results.join(&job.name);
            // Results of an earlier run in the same folder would pass for results of this run.
            match fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(at(&folder)(error));
                }
                _ => fs::create_dir_all(&folder).map_err(at(&folder))?,
            }
        }
        let boot_log = results.join("boot.log");
        match fs::remove_file(&boot_log) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(at(&boot_log)(error)),
            _ => {}
        }
        let results = results.canonicalize().map_err(at(results))?;
        let console = results.join("console.log");
        let folders = [
            Folder { tag: "host", path: Path::new("/"), is_read_only: true },
            Folder { tag: "result", path: &results, is_read_only: false },
        ];
        let shares = kernel.share().share(&folders, self.memory_mib, room.path())?;
        let mut command = self.command(kernel, &initramfs, &console)?;
        command.args(&shares.arguments);
        if self.accelerator.dilation() > 1 {
            let library = compile_dilation(room.path())?;
            command.env("LD_PRELOAD", library);
            command.env("EVENKEEL_DILATION", self.accelerator.dilation().to_string());
        }
        let said = room.path().join("said");
        command.stderr(File::create(&said).map_err(at(&said))?);
        let mut host_time = HostTime::default();
        let status = child::start(&mut command)?.wait(self.limit, |pid| {
            // The threads of a machine that ends go one by one.
            host_time = HostTime::of(pid)
                .filter(|now| now.ran >= host_time.ran && now.waited >= host_time.waited)
                .unwrap_or(host_time);
        })?;
        let unfinished = |why| LabError::Unfinished { why, console: console.clone() };
        let status = status.ok_or_else(|| unfinished("exceeded its time limit".into()))?;
        if let Some(panic) = text(&console).lines().find(|line| line.contains(PANIC)) {
            return Err(unfinished(format!("panicked: {}", panic.trim())));
        }
        let boot_log = results.join("boot.log");
        if !status.success() || !boot_log.exists() {
            let said = fs::read_to_string(&said).unwrap_or_default();
            return Err(unfinished(format!("ended early ({status}) {}", said.trim())));
        }
        let jobs = jobs.iter().map(|job| done(&results.join(&job.name))).collect();
        Ok(Run { jobs, boot_log: text(&boot_log), host_time, restarts: 0 })
    }

    fn command(
        &self,
        kernel: &Kernel,
        initramfs: &Path,
        console: &Path,
    ) -> Result<Command, LabError> {
        let mut command = Command::new("qemu-system-x86_64");
        let accelerator = match self.accelerator {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg { .. } => "tcg,thread=multi",
            Accelerator::InTurns | Accelerator::Counting => "tcg,thread=single",
        };
        if self.accelerator == Accelerator::Counting {
            command.args(["-icount", "shift=0"]);
        }
        command.args(["-accel", accelerator, "-cpu", self.cpu(), "-machine", "q35"]);
        command.args(["-name", "lab,debug-threads=on"]);
        command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
        let (cpus, threads) = (self.cpus, self.threads_per_core);
        let cores = cpus / threads;
        command.args(["-smp", &format!("{cpus},sockets=1,cores={cores},threads={threads}")]);
        command.args(["-m", &self.memory_mib.to_string()]);
        command.arg("-serial").arg(option("file:", console));
        command.arg("-kernel").arg(kernel.image()).arg("-initrd").arg(initramfs);
        let share = kernel.share().name();
        let mut line = format!(
            "console=ttyS0 quiet panic=-1 mitigations=off nokaslr share={share} limit={}",
            self.job_limit.as_secs()
        );
        match self.accelerator {
            Accelerator::Kvm => {}
            Accelerator::Tcg { .. } | Accelerator::InTurns => {
                line += &self.clock_of_the_host(Tsc::calibrate()?.hz() / 1000)
            }
            // The interpreter's counter advances with its clock, by 1 each ns.
            Accelerator::Counting => line += &self.clock_of_the_host(1_000_000),
        }
        command.arg("-append").arg(line);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Ok(command)
    }

    /// The interpreter's CPU says that it is from AMD, but lacks the leaf of `topoext` by which
    /// Linux 6.1 finds siblings of such a CPU. For a CPU of Intel it reads leaf 0xb, which QEMU
    /// fills in.
    fn cpu(&self) -> &'static str {
        if self.is_interpreted() && self.threads_per_core > 1 {
            "max,vendor=GenuineIntel"
        } else {
            "max"
        }
    }

    /// The kernel takes the host's time-stamp counter for its clock: the interpreter passes the
    /// counter through, so the kernel's measurements are wrong by factors. `no_timer_check`: its
    /// test of the timer waits for a number of ticks of that counter.
    fn clock_of_the_host(&self, tsc_khz: u64) -> String {
        let tsc_khz = tsc_khz * u64::from(self.accelerator.dilation());
        format!(" tsc=reliable no_timer_check tsc_early_khz={tsc_khz}")
    }
}

fn done(folder: &Path) -> Done {
    let status = text(&folder.join("status")).trim().parse().ok();
    let uptime = |file| uptime(&text(&folder.join(file)));
    let duration = uptime("ended").zip(uptime("began"));
    Done {
        status,
        kernel_log: text(&folder.join("kernel.log")),
        duration: duration.map(|(ended, began)| ended.saturating_sub(began)),
    }
}

/// The first number of `/proc/uptime`, in seconds.
fn uptime(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.split_whitespace().next()?.parse().ok()?).ok()
}

/// The text of a file of the guest; empty if the guest never wrote the file.
fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

fn write_initramfs(kernel: &Kernel, jobs: &[Job], path: &Path) -> Result<(), LabError> {
    let busybox = kernel.busybox();
    let busybox = fs::read(&busybox).map_err(at(&busybox))?;
    let modules = match kernel.share() {
        Kind::NineP => modules::needed(&kernel.modules())?,
        Kind::Virtiofs => Vec::new(),
    };
    let jobs: Vec<_> = jobs.iter().map(|job| (job.name.clone(), job.script.clone())).collect();
    let mut file = BufWriter::new(File::create(path).map_err(at(path))?);
    initramfs::write(&mut file, &busybox, &modules, &jobs).map_err(at(path))?;
    file.into_inner().map_err(|error| error.into_error()).map_err(at(path))?;
    Ok(())
}

/// Compiles the library that slows QEMU's clocks.
fn compile_dilation(folder: &Path) -> Result<PathBuf, LabError> {
    let (source, library) = (folder.join("dilate.c"), folder.join("dilate.so"));
    fs::write(&source, include_str!("dilate.c")).map_err(at(&source))?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    finish(&mut compiler)?;
    Ok(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dilated(threads_per_core: u32) -> Machine {
        Machine {
            cpus: 2,
            threads_per_core,
            memory_mib: 512,
            accelerator: Accelerator::Tcg { dilation: 20 },
            job_limit: Duration::from_secs(7),
            limit: Duration::from_secs(60),
        }
    }

    #[test]
    fn a_panic_before_the_first_job_is_the_interpreters() {
        let results = tempfile::tempdir().unwrap();
        let panic = "[    6.7] Kernel panic - not syncing: Fatal exception in interrupt";
        assert!(broke(panic, results.path()));
        assert!(!broke("[    6.7] reboot: Power down", results.path()));
        fs::write(results.path().join("boot.log"), "").unwrap();
        assert!(!broke(panic, results.path()), "a job may have caused it");
        assert!(broke("Oops: int3: 0000 [#1] SMP NOPTI", results.path()));
    }

    #[test]
    fn only_an_interpreted_machine_with_siblings_claims_to_be_of_intel() {
        assert_eq!(dilated(1).cpu(), "max");
        assert_eq!(dilated(2).cpu(), "max,vendor=GenuineIntel");
        assert_eq!(Machine { accelerator: Accelerator::Kvm, ..dilated(2) }.cpu(), "max");
    }

    #[test]
    fn a_dilated_machine_is_told_a_faster_counter() {
        let machine = dilated(1);
        let words = machine.clock_of_the_host(2_600_000);
        assert!(words.contains("tsc_early_khz=52000000"), "{words}");
    }
}
