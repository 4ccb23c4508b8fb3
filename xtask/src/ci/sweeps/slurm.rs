//! A Slurm of one node, this machine, that needs root and leaves nothing running.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::command::program;

/// How long the daemons may take to begin.
const PATIENCE: Duration = Duration::from_secs(60);

/// Running daemons, which end when this is dropped.
pub struct Cluster {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts munge, Slurm's controller and its node daemon, with everything they write in
    /// `folder`.
    pub fn start(folder: &Path) -> Result<Self> {
        for part in ["state", "spool"] {
            fs::create_dir_all(folder.join(part))?;
        }
        let mut cluster = Self { folder: folder.to_owned(), daemons: Vec::new() };
        let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
        let name = host.trim().split('.').next().unwrap_or("localhost").to_owned();
        fs::write(cluster.configuration(), configuration(folder, &name))?;
        cluster.start_munge()?;
        cluster.start_daemon("slurmctld")?;
        cluster.start_daemon("slurmd")?;
        cluster.wait_for_node()?;
        Ok(cluster)
    }

    /// The file that `SLURM_CONF` names.
    pub fn configuration(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    fn start_munge(&mut self) -> Result<()> {
        let at = |name: &str| self.folder.join(name).display().to_string();
        let mut key = vec![0; 1024];
        std::io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut key)?;
        fs::write(at("munge.key"), key)?;
        fs::set_permissions(at("munge.key"), fs::Permissions::from_mode(0o600))?;
        let mut munged = program("munged");
        munged.args(["--foreground", "--force"]);
        for (option, file) in [
            ("--key-file", "munge.key"),
            ("--socket", "munge.socket"),
            ("--pid-file", "munged.pid"),
            ("--log-file", "munged.log"),
            ("--seed-file", "munged.seed"),
        ] {
            munged.arg(format!("{option}={}", at(file)));
        }
        self.daemons.push(munged.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        Ok(())
    }

    fn start_daemon(&mut self, name: &str) -> Result<()> {
        let said = fs::File::create(self.folder.join(format!("{name}.said")))?;
        let mut daemon = program(name);
        daemon.arg("-D").env("SLURM_CONF", self.configuration());
        daemon.stdout(Stdio::null()).stderr(said);
        self.daemons.push(daemon.spawn().with_context(|| format!("starting {name}"))?);
        Ok(())
    }

    fn wait_for_node(&self) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let mut sinfo = program("sinfo");
            sinfo.args(["--noheader", "--format=%T"]).env("SLURM_CONF", self.configuration());
            let output = sinfo.stderr(Stdio::null()).output()?;
            if String::from_utf8_lossy(&output.stdout).trim() == "idle" {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        bail!("Slurm's node did not come up; {} has the logs", self.folder.display())
    }

    /// Ends the daemons, the last one first.
    pub fn stop(&mut self) {
        while let Some(mut daemon) = self.daemons.pop() {
            // A daemon that has ended by itself is no error.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.stop();
    }
}

fn configuration(folder: &Path, host: &str) -> String {
    let at = folder.display();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "ClusterName=one\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
         SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
         SlurmctldPort=16817\nSlurmdPort=16818\nReturnToService=2\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\n\
         SlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd.pid\n\
         SlurmctldLogFile={at}/slurmctld.log\nSlurmdLogFile={at}/slurmd.log\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    )
}
