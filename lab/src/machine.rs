//! A virtual machine that boots a kernel, runs jobs and switches itself off.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use kernels::Tsc;

use crate::error::{LabError, at, finish, not_started};
use crate::kernel::Kernel;
use crate::vcpus::HostTime;
use crate::{initramfs, modules};

/// How a kernel is run. There is no hardware help (`accel=tcg`): code of the guest takes many times
/// as long as code of the host.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Virtual CPUs.
    pub cpus: u32,
    /// Memory, in MiB; what is written to the root is in it.
    pub memory_mib: u32,
    /// Seconds of the host in a second of the guest, so that the guest's work bears about the same
    /// relation to its clock as on hardware; 1: none.
    pub dilation: u32,
    /// Time of the guest that each job may take.
    pub job_limit: Duration,
    /// Time of the host after which the machine is killed.
    pub limit: Duration,
}

/// A shell script to run there, as root.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name, and that of its folder among the results, which is where it starts.
    pub name: String,
    /// The script, with its first line.
    pub script: String,
}

/// What a machine left behind.
#[derive(Clone, Debug)]
pub struct Run {
    /// Exit status of each job, in order; 137 after its time limit.
    pub statuses: Vec<Option<i32>>,
    /// The kernel's log.
    pub kernel_log: String,
    /// What the host gave the virtual CPUs.
    pub host_time: HostTime,
}

/// How often the harness looks at the machine.
const LOOK: Duration = Duration::from_millis(50);

impl Machine {
    /// Boots the kernel and runs the jobs, one after the other. `results` gets a folder for each,
    /// with `stdout`, `stderr` and `status`, and `kernel.log` and `console.log`.
    ///
    /// # Errors
    /// [`LabError`]; a job that fails or exceeds its time is none.
    pub fn run(&self, kernel: &Kernel, jobs: &[Job], results: &Path) -> Result<Run, LabError> {
        let room = tempfile::tempdir().map_err(at(Path::new("a folder for the machine")))?;
        let initramfs = room.path().join("initramfs");
        write_initramfs(kernel, jobs, &initramfs)?;
        for job in jobs {
            let folder = results.join(&job.name);
            fs::create_dir_all(&folder).map_err(at(&folder))?;
        }
        let results = results.canonicalize().map_err(at(results))?;
        let console = results.join("console.log");
        let mut command = self.command(kernel, &initramfs, &results, &console)?;
        if self.dilation > 1 {
            let library = compile_dilation(room.path())?;
            command.env("LD_PRELOAD", library);
            command.env("EVENKEEL_DILATION", self.dilation.to_string());
        }
        let said = room.path().join("said");
        command.stderr(File::create(&said).map_err(at(&said))?);
        let child = command.spawn().map_err(|source| not_started("setpriv", source))?;
        let (status, host_time) = Watched(child).wait(self.limit)?;
        let unfinished = |why| LabError::Unfinished { why, console: console.clone() };
        let status = status.ok_or_else(|| unfinished("exceeded its time limit".into()))?;
        let log = results.join("kernel.log");
        if !status.success() || !log.exists() {
            let said = fs::read_to_string(&said).unwrap_or_default();
            return Err(unfinished(format!("ended early ({status}) {}", said.trim())));
        }
        let kernel_log = String::from_utf8_lossy(&fs::read(&log).map_err(at(&log))?).into_owned();
        let status_of = |job: &Job| {
            let status = fs::read_to_string(results.join(&job.name).join("status")).ok()?;
            status.trim().parse().ok()
        };
        Ok(Run { statuses: jobs.iter().map(status_of).collect(), kernel_log, host_time })
    }

    fn command(
        &self,
        kernel: &Kernel,
        initramfs: &Path,
        results: &Path,
        console: &Path,
    ) -> Result<Command, LabError> {
        // QEMU goes when the thread that started it goes, however that ends.
        let mut command = Command::new("setpriv");
        command.args([
            "--pdeathsig",
            "KILL",
            "qemu-system-x86_64",
            "-name",
            "lab,debug-threads=on",
        ]);
        command.args(["-accel", "tcg,thread=multi", "-cpu", "max", "-machine", "q35"]);
        command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
        command.args(["-smp", &self.cpus.to_string(), "-m", &self.memory_mib.to_string()]);
        command.arg("-serial").arg(option("file:", console));
        command.arg("-kernel").arg(kernel.image()).arg("-initrd").arg(initramfs);
        command.args(["-append", &self.kernel_command_line(Tsc::calibrate()?.hz() / 1000)]);
        for (tag, path, more) in
            [("host", Path::new("/"), ",readonly=on,multidevs=remap"), ("result", results, "")]
        {
            let mut share = option(&format!("local,id={tag},security_model=none,path="), path);
            share.push(more);
            command.arg("-fsdev").arg(share);
            command.args(["-device", &format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}")]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Ok(command)
    }

    /// The kernel takes the host's time-stamp counter for its clock: QEMU hands it through, and
    /// what a kernel measures here is wrong by factors. `no_timer_check`: its test of the timer
    /// waits for so many ticks of that counter.
    fn kernel_command_line(&self, tsc_khz: u64) -> String {
        let tsc_khz = tsc_khz * u64::from(self.dilation);
        let limit = self.job_limit.as_secs();
        format!(
            "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=reliable no_timer_check \
             tsc_early_khz={tsc_khz} limit={limit}"
        )
    }
}

/// A path within an option of QEMU, where a comma is written twice.
fn option(begin: &str, path: &Path) -> OsString {
    let mut option = OsString::from(begin);
    option.push(path.to_string_lossy().replace(',', ",,"));
    option
}

fn write_initramfs(kernel: &Kernel, jobs: &[Job], path: &Path) -> Result<(), LabError> {
    let busybox = kernel.busybox();
    let busybox = fs::read(&busybox).map_err(at(&busybox))?;
    let modules = modules::needed(&kernel.modules())?;
    let jobs: Vec<_> = jobs.iter().map(|job| (job.name.clone(), job.script.clone())).collect();
    let mut file = BufWriter::new(File::create(path).map_err(at(path))?);
    initramfs::write(&mut file, &busybox, &modules, &jobs).map_err(at(path))?;
    file.into_inner().map_err(|error| error.into_error()).map_err(at(path))?;
    Ok(())
}

/// Compiles what slows QEMU's clocks.
fn compile_dilation(folder: &Path) -> Result<PathBuf, LabError> {
    let (source, library) = (folder.join("dilate.c"), folder.join("dilate.so"));
    fs::write(&source, include_str!("dilate.c")).map_err(at(&source))?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    finish(&mut compiler)?;
    Ok(library)
}

/// A process that does not outlive this value.
struct Watched(Child);

impl Watched {
    /// Waits for its end; no status if that did not come in time.
    fn wait(mut self, limit: Duration) -> Result<(Option<ExitStatus>, HostTime), LabError> {
        let start = Instant::now();
        let mut host_time = HostTime::default();
        loop {
            let ended = self.0.try_wait().map_err(at(Path::new("qemu-system-x86_64")))?;
            if ended.is_some() || start.elapsed() > limit {
                return Ok((ended, host_time));
            }
            // The threads of a machine that ends go one by one.
            host_time = HostTime::of(self.0.id())
                .filter(|now| now.ran >= host_time.ran && now.waited >= host_time.waited)
                .unwrap_or(host_time);
            sleep(LOOK);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dilated_machine_is_told_a_faster_counter() {
        let machine = Machine {
            cpus: 2,
            memory_mib: 512,
            dilation: 20,
            job_limit: Duration::from_secs(7),
            limit: Duration::from_secs(60),
        };
        let line = machine.kernel_command_line(2_600_000);
        assert!(line.contains("tsc_early_khz=52000000") && line.ends_with("limit=7"));
    }

    #[test]
    fn commas_of_paths_do_not_end_an_option() {
        assert_eq!(option("file:", Path::new("/a,b")), "file:/a,,b");
    }

    #[test]
    fn a_process_beyond_its_limit_is_ended() {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let (status, _) = Watched(child).wait(Duration::from_millis(1)).unwrap();
        assert_eq!(status, None);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }
}
