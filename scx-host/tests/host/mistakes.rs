//! A scheduler with a mistake is ended, with the kernel's message.

use std::path::Path;

use scx_host::{ExitKind, Faults, Host, Object, TaskSpec, Topology};

use crate::machine::{Machine, SPINS};

/// Compiles a source beside this file, or a text.
fn compiled(source: &str, text: Option<&str>) -> Result<Object, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host").join(source);
    if let Some(text) = text {
        file = folder.path().join(source);
        std::fs::write(&file, text).unwrap();
    }
    scx_host::compile(&file, &[], folder.path()).map_err(|error| error.to_string())
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
    for allowed in [18, 19] {
        // Reads where nothing is, and a timer that is due at once again and again.
        assert_eq!(machine(&object, allowed).host.exit(), None, "{allowed}");
    }
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
        (11, ExitKind::Error, "ops.enqueue() took 10,000,000 branches and did not return; "),
        (12, ExitKind::Error, "ops.enqueue() used an address where nothing is; "),
        (13, ExitKind::Error, "ops.enqueue() used an address where nothing is; "),
        (14, ExitKind::Error, "the callback of a timer took 10,000,000 branches "),
        (16, ExitKind::Error, "ops.enqueue() took 10,000,000 branches and did not return; "),
        (17, ExitKind::Error, "ops.enqueue() divided by zero"),
        (15, ExitKind::Error, "releases an object that the scheduler does not hold"),
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
fn functions_that_the_host_does_not_have_are_named() {
    let source = "\
        #include \"kernel.h\"\n\
        void scx_bpf_of_tomorrow(void) __ksym;\n\
        SEC(\"struct_ops/enqueue\") void BPF_PROG(enqueue, struct task_struct *p, u64 flags)\n\
        { scx_bpf_of_tomorrow(); bpf_helper_of_tomorrow(); }\n\
        SEC(\".struct_ops.link\") struct sched_ext_ops ops = { .enqueue = (void *)enqueue };\n";
    let error = compiled("tomorrow.bpf.c", Some(source)).map(|_| ()).unwrap_err();
    let names = "bpf_helper_of_tomorrow, scx_bpf_of_tomorrow";
    assert_eq!(error, format!("it uses what the host does not have: {names}"));
}

#[test]
fn a_weak_function_that_the_host_does_not_have_is_null() {
    let source = "\
        #include \"kernel.h\"\n\
        void scx_bpf_of_tomorrow(void) __ksym __weak;\n\
        SEC(\"struct_ops/enqueue\") void BPF_PROG(enqueue, struct task_struct *p, u64 flags)\n\
        { if (bpf_ksym_exists(scx_bpf_of_tomorrow)) scx_bpf_of_tomorrow();\n\
          scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, 1000000, flags); }\n\
        SEC(\".struct_ops.link\") struct sched_ext_ops ops = { .enqueue = (void *)enqueue };\n";
    let object = compiled("today.bpf.c", Some(source)).unwrap();
    let mut host = Host::load(&object, Topology::regular(1, 2, 1), Faults::default()).unwrap();
    host.attach().unwrap();
    let mut machine = Machine::new(host, 2);
    machine.start(&TaskSpec::default(), SPINS);
    machine.run(100_000_000);
    assert_eq!(machine.host.exit(), None);
}

#[test]
fn a_mistake_in_the_source_is_told_with_its_place() {
    let error = compiled("broken.bpf.c", Some("#include \"kernel.h\"\nint a = b;\n")).map(|_| ());
    let error = error.unwrap_err();
    assert!(error.contains("broken.bpf.c:2:9: error: use of undeclared identifier 'b'"), "{error}");
    let flavour = "#include \"kernel.h\"\nstruct task_struct___w { u32 weight; } RELOCATED t;\n\
        SEC(\".struct_ops.link\") struct sched_ext_ops ops = { .timeout_ms = 1 };\n";
    let error = compiled("flavour.bpf.c", Some(flavour)).map(|_| ()).unwrap_err();
    assert!(error.starts_with("struct task_struct___w is a flavour of another"), "{error}");
    let none = "#include \"kernel.h\"\nstruct sched_ext_ops ops;\n";
    let error = compiled("none.bpf.c", Some(none)).map(|_| ()).unwrap_err();
    assert_eq!(error, "no `struct sched_ext_ops` in section .struct_ops.link");
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
