//! A scheduler with a mistake is ended, with the kernel's message.

use std::path::Path;

use scx_host::{ExitKind, Faults, Host, Object, TaskSpec, Topology};

use crate::machine::{Machine, SPINS};
use crate::native;

const ROOM: &str = env!("CARGO_MANIFEST_DIR");

/// Compiles a source beside this file.
fn compiled(source: &str, text: Option<&str>) -> Result<Object, String> {
    let folder = tempfile::tempdir().unwrap();
    let room = Path::new(ROOM);
    let mut file = room.join("tests/host").join(source);
    if let Some(text) = text {
        file = folder.path().join(source);
        std::fs::write(&file, text).unwrap();
    }
    let headers = ["../scheduler/src/bpf", "../policy/include", "../cpu-model/include"];
    let arguments = headers.map(|path| format!("-I{}", room.join(path).display()));
    native::compile(&native::Source {
        file: &file,
        arguments: &arguments,
        room,
        output: folder.path(),
        name: "source",
    })?;
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    Object::parse(&read("source.so"), &read("source.bpf.o")).map_err(|error| error.to_string())
}

/// Three spinning tasks on two CPUs, under a scheduler that makes a mistake.
fn machine(object: &Object, mistake: u32) -> Machine {
    let mut object = object.clone();
    object.set_constant("mistake", &mistake.to_ne_bytes()).unwrap();
    let mut host = Host::load(&object, Topology::regular(1, 2, 1), Faults::default()).unwrap();
    host.attach().unwrap();
    let mut machine = Machine::new(host, 2);
    for name in ["a", "b", "c"] {
        let spec = TaskSpec { name: name.into(), ..TaskSpec::default() };
        machine.start(&spec, SPINS);
    }
    machine.run(2_000_000_000);
    machine
}

#[test]
fn each_mistake_ends_the_scheduler_with_the_kernels_words() {
    let object = compiled("mistakes.bpf.c", None).unwrap();
    assert_eq!(machine(&object, 0).host.exit(), None);
    let expected = [
        (1, ExitKind::Stall, "b[2] failed to run for 0."),
        (2, ExitKind::Error, "a[1] already direct-dispatched"),
        (3, ExitKind::Error, "scheduling for b[2] but trying to direct-dispatch a[1]"),
        (4, ExitKind::Error, "non-existent DSQ 0x4d"),
        (5, ExitKind::Error, "cannot use vtime ordering for built-in DSQs"),
        (6, ExitKind::Error, "DSQ ID 0x0000000000000000 already had FIFO-enqueued tasks"),
        (7, ExitKind::Error, "scx_bpf_dsq_move_to_local called from"),
        (8, ExitKind::Error, "invalid CPU 99"),
        (9, ExitKind::Error, "invalid CPU -7 from ops.select_cpu()"),
        (10, ExitKind::ErrorByScheduler, "pid 2 is not wanted"),
    ];
    for (mistake, kind, message) in expected {
        let mut machine = machine(&object, mistake);
        let exit = machine.host.unload();
        assert_eq!(exit.kind, kind, "{mistake}: {exit}");
        assert!(exit.message.starts_with(message), "{mistake}: {exit}");
    }
}

#[test]
fn what_a_scheduler_prints_is_kept() {
    let object = compiled("mistakes.bpf.c", None).unwrap();
    let mut machine = machine(&object, 10);
    assert_eq!(machine.host.take_printed()[..2], ["pid 1 of a", "pid 2 of b"]);
}

#[test]
fn a_function_that_the_host_does_not_have_fails_to_link() {
    let source = "\
        #include \"kernel.h\"\n\
        void scx_bpf_of_tomorrow(void) __ksym;\n\
        SEC(\"struct_ops/enqueue\") void BPF_PROG(enqueue, struct task_struct *p, u64 flags)\n\
        { scx_bpf_of_tomorrow(); }\n\
        SEC(\".struct_ops.link\") struct sched_ext_ops ops = { .enqueue = (void *)enqueue };\n";
    let error = compiled("tomorrow.bpf.c", Some(source)).map(|_| ()).unwrap_err();
    assert!(error.contains("undefined") && error.contains("scx_bpf_of_tomorrow"), "{error}");
}

#[test]
fn constants_of_another_kernel_are_refused() {
    let source = "\
        #include \"kernel.h\"\n\
        enum other { SCX_ENQ_HEAD = 3 };\n\
        enum other other;\n\
        SEC(\".struct_ops.link\") struct sched_ext_ops ops = { .timeout_ms = 1 };\n";
    let error = compiled("other.bpf.c", Some(source)).map(|_| ()).unwrap_err();
    assert_eq!(error, "SCX_ENQ_HEAD is 0x3 in the object and 0x10000 in the host");
}
