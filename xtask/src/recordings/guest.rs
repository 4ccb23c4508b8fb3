//! Records under another kernel, in a virtual machine, by our own recorder.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab::{Accelerator, Job, Kernel, Machine};

use super::works::Work;

/// Code of the guest takes longer even by its own clock: these amounts of work last about as long
/// as the full ones on hardware.
const AMOUNTS: &str = "export FILES=20 BYTES=8000000";
/// Time of the guest for preparing and recording.
const JOB_LIMIT: Duration = Duration::from_secs(120);
/// Time of the host that booting may take.
const BOOT_LIMIT: Duration = Duration::from_secs(300);

/// A kernel and how it is run.
pub struct Guest {
    kernel: Kernel,
    accelerator: Accelerator,
}

impl Guest {
    /// The kernel of that name, under KVM if that works, else interpreted with dilated time.
    pub fn new(name: &str, dilation: u32) -> Result<Self> {
        let kernel = Kernel::get(name, &lab::cache()).with_context(|| format!("kernel {name}"))?;
        let accelerator = match Accelerator::best(&kernel)? {
            Accelerator::Kvm => Accelerator::Kvm,
            _ => Accelerator::Tcg { dilation },
        };
        println!("kernel {} under {accelerator:?}", kernel.release);
        Ok(Self { kernel, accelerator })
    }

    /// Boots the kernel and records one work.
    pub fn record(&self, work: &Work, folder: &Path, evenkeel: &Path) -> Result<()> {
        let dilation = match self.accelerator {
            Accelerator::Tcg { dilation } => dilation,
            _ => 1,
        };
        let machine = Machine {
            cpus: 2,
            memory_mib: 4096,
            threads_per_core: 1,
            accelerator: self.accelerator,
            job_limit: JOB_LIMIT,
            limit: BOOT_LIMIT + JOB_LIMIT * dilation,
        };
        record(&machine, &self.kernel, work, folder, evenkeel)
    }
}

fn record(
    machine: &Machine,
    kernel: &Kernel,
    work: &Work,
    folder: &Path,
    evenkeel: &Path,
) -> Result<()> {
    let amounts = if machine.accelerator == Accelerator::Kvm { ":" } else { AMOUNTS };
    let job = Job { name: work.name.to_owned(), script: script(work, amounts, evenkeel) };
    let results = tempfile::tempdir()?;
    let run = machine.run(kernel, &[job], results.path())?;
    let complaints = run.complaints();
    ensure!(complaints.is_empty(), "the kernel complained: {}", complaints[0]);
    let made = results.path().join(work.name);
    let said = fs::read_to_string(made.join("stderr")).unwrap_or_default();
    let recording = made.join("recording.ektrace");
    ensure!(recording.exists(), "nothing was recorded: {}", said.trim());
    let output = folder.join(work.name).with_extension("ektrace");
    fs::copy(&recording, &output).with_context(|| format!("writing {}", output.display()))?;
    let seconds = |time: Duration| time.as_secs_f64();
    println!(
        "{}: {}; its CPUs ran {:.1} s and waited {:.1} s for this machine's",
        work.name,
        said.lines().last().unwrap_or_default(),
        seconds(run.host_time.ran),
        seconds(run.host_time.waited),
    );
    Ok(())
}

/// Runs the work in the machine's memory; ignores the output and status of recorded programs.
fn script(work: &Work, amounts: &str, evenkeel: &Path) -> String {
    let Work { prepare, run, .. } = work;
    let prepare = if prepare.is_empty() { ":" } else { prepare };
    format!(
        "#!/bin/sh\n\
         {amounts}\n\
         echo 0 > /proc/sys/kernel/sched_autogroup_enabled\n\
         results=$PWD\n\
         cd \"$(mktemp -d)\"\n\
         cat > run << 'END OF THE WORK'\n{run}\nEND OF THE WORK\n\
         {{ {prepare}\n}} > prepared 2>&1\n\
         {} trace record -o recording.ektrace -- sh -c 'exec sh ./run > said 2>&1'\n\
         cp recording.ektrace \"$results\"\n",
        evenkeel.display()
    )
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::super::works::{SEEN, SEEN_WAKING, UNSEEN, UNSEEN_WAKING};
    use super::*;

    #[test]
    fn every_script_is_one_that_a_shell_reads() {
        let works = [&SEEN[..], &UNSEEN, &SEEN_WAKING, &UNSEEN_WAKING];
        for work in works.into_iter().flatten() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("script");
            fs::write(&path, script(work, AMOUNTS, Path::new("evenkeel"))).unwrap();
            let mut shell = Command::new("sh");
            let status = shell.arg("-n").arg(&path).stderr(Stdio::null()).status().unwrap();
            assert!(status.success(), "{}", work.name);
        }
    }
}
