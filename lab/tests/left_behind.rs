//! However a machine ends, no process and no file of the machine remains.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lab::{Accelerator, Job, Kernel, LabError, Machine};

/// Set for the process that is to be killed: its folder.
const FOLDER: &str = "EVENKEEL_LAB_TEST_FOLDER";
/// A test with nothing to wait for takes no longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A cache with a kernel that only loops: a jump to itself where a kernel's setup begins
/// (Documentation/arch/x86/boot.rst). The kernel has no modules, so daemons share its folders.
fn endless_kernel(cache: &Path) -> Kernel {
    let folder = cache.join("6.1");
    fs::create_dir_all(folder.join("boot")).unwrap();
    fs::write(folder.join("boot/vmlinuz-endless"), "").unwrap();
    fs::create_dir_all(folder.join("bin")).unwrap();
    fs::write(folder.join("bin/busybox"), "").unwrap();
    let mut image = vec![0u8; 16 << 10];
    image[0x200..0x208].copy_from_slice(b"\xeb\xfeHdrS\x06\x02");
    let initrd_addr_max = 0x22c;
    image[initrd_addr_max..][..4].copy_from_slice(&0x37ff_ffff_u32.to_le_bytes());
    fs::write(folder.join("vmlinux"), image).unwrap();
    Kernel::get("6.1", cache).unwrap()
}

fn run(folder: &Path, limit: Duration) -> Result<lab::Run, LabError> {
    let machine = Machine {
        cpus: 1,
        threads_per_core: 1,
        memory_mib: 64,
        accelerator: Accelerator::Tcg { dilation: 1 },
        job_limit: PATIENCE,
        limit,
    };
    let job = Job { name: "never".into(), script: "#!/bin/sh\n".into() };
    machine.run(&endless_kernel(&folder.join("cache")), &[job], &folder.join("results"))
}

/// Machines, and daemons of the folders that they share, whose arguments name the folder.
fn processes_of(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path());
    let names_it = |process: &PathBuf| {
        let arguments = fs::read(process.join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments);
        let program = arguments.split('\0').next().unwrap_or_default();
        ["qemu-system-x86_64", "virtiofsd"].iter().any(|name| program.ends_with(name))
            && arguments.contains(folder)
    };
    processes.filter(names_it).collect()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_machine_that_never_ends_is_ended_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let error = run(folder.path(), Duration::from_secs(1)).unwrap_err();
    assert!(error.to_string().contains("exceeded its time limit"), "{error}");
    assert_eq!(processes_of(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_machine_goes_with_a_harness_that_is_killed() {
    if let Some(folder) = env::var_os(FOLDER) {
        run(Path::new(&folder), PATIENCE).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut harness = Command::new(env::current_exe().unwrap())
        .args(["--exact", "a_machine_goes_with_a_harness_that_is_killed"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // One daemon names the folder: the other serves the root.
    wait_until("the machine starts", || processes_of(folder.path()).len() == 2);
    assert_eq!(harness.try_wait().unwrap(), None, "the harness waits for the machine");
    harness.kill().unwrap();
    harness.wait().unwrap();
    wait_until("the machine is gone", || processes_of(folder.path()).is_empty());
}
