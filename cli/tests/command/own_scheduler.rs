//! Schedulers of users, in BPF C, as their authors meet the program.

use crate::harness::Folder;

const FIFO: &str = r#"
#include "kernel.h"

const volatile u64 slice_ns = 20000000;
const volatile u32 lost_pid;
const volatile bool never_ends;
const volatile bool kicks_for_ever;

SEC("struct_ops/enqueue")
void BPF_PROG(fifo_enqueue, struct task_struct *p, u64 flags)
{
	while (never_ends)
		scx_bpf_now();
	if (kicks_for_ever) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, flags);
		scx_bpf_kick_cpu(scx_bpf_task_cpu(p), SCX_KICK_PREEMPT);
	} else if (p->pid != lost_pid)
		scx_bpf_dsq_insert(p, 0, slice_ns, flags);
}

SEC("struct_ops/dispatch")
void BPF_PROG(fifo_dispatch, s32 cpu, struct task_struct *prev)
{
	scx_bpf_dsq_move_to_local(0);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(fifo_init)
{
	return scx_bpf_create_dsq(0, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops fifo_ops = {
	.enqueue = (void *)fifo_enqueue,
	.dispatch = (void *)fifo_dispatch,
	.init = (void *)fifo_init,
	.name = "fifo",
};
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("fifo.bpf.c", FIFO);
    folder
}

/// The arguments of a short comparison on a crowded machine.
fn compare(scheduler: &str) -> [&str; 6] {
    ["compare", "light512", "--replicates", "1", "--scheduler", scheduler]
}

#[test]
fn a_file_is_compared_by_its_own_name_and_constants() {
    let folder = folder();
    let both = "eevdf,scx:fifo.bpf.c,scx:fifo.bpf.c:slice_ns=1000000";
    let said = folder.succeed(&compare(both));
    let row = |name: &str| {
        let line = said.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().rev().nth(2).unwrap().to_owned()
    };
    let switches = |text: String| match text.strip_suffix('k') {
        Some(thousands) => thousands.parse::<f64>().unwrap() * 1000.0,
        None => text.parse().unwrap(),
    };
    let long = switches(row("scx:fifo  "));
    let short = switches(row("scx:fifo:slice_ns=1000000"));
    assert!(short > 2.0 * long, "{short} {long}");
    assert_eq!(folder.succeed(&compare(both)), said, "the same again");
}

#[test]
fn a_sweep_takes_it_and_the_part_depends_on_its_source() {
    let folder = folder();
    let grid = "schema = 1\ncompare = \"light512\"\nreplicates = 1\n\
        schedulers = [\"scx:fifo.bpf.c\"]\naxis = [{ set = \"hold-us\", values = [600, 650] }]\n";
    folder.write("grid.toml", grid);
    folder.succeed(&["sweep", "grid.toml", "-o", "parts"]);
    let said = folder.succeed(&["sweep", "merge", "parts", "-o", "table.csv"]);
    assert_eq!(said, "table.csv: 2 rows\n");
    folder.write("fifo.bpf.c", FIFO.replace("20000000", "10000000"));
    let ran = folder.run(&["sweep", "grid.toml", "-o", "parts"]);
    assert!(ran.stderr.contains("it is of another grid or version"), "{}", ran.stderr);
}

#[test]
fn mistakes_have_their_sentence() {
    let folder = folder();
    folder.write("broken.bpf.c", "#include \"kernel.h\"\nint a = b;\n");
    folder.write("empty.bpf.c", "#include \"kernel.h\"\nint a;\n");
    folder.write("twin.bpf.c", FIFO);
    let of_tomorrow = "void scx_bpf_of_tomorrow(void) __ksym;\nSEC(\"struct_ops/enqueue\")";
    folder.write("lacking.bpf.c", {
        let calls = FIFO.replace("scx_bpf_now();", "scx_bpf_of_tomorrow();");
        calls.replacen("SEC(\"struct_ops/enqueue\")", of_tomorrow, 1)
    });
    let no_main = "evenkeel: --scheduler: ";
    let runtime = "runtime error: ops.enqueue() took 10,000,000 branches and did not return";
    for (scheduler, begin, contains) in [
        ("scx:none.bpf.c", no_main, "none.bpf.c: No such file or directory"),
        ("scx:broken.bpf.c", no_main, "broken.bpf.c:2:9: error: use of undeclared identifier 'b'"),
        ("scx:empty.bpf.c", no_main, "no `struct sched_ext_ops` in section .struct_ops.link"),
        ("scx:lacking.bpf.c", no_main, "it uses what the host does not have: scx_bpf_of_tomorrow"),
        ("scx:fifo.bpf.c:slice", no_main, "\"slice\" is not NAME=NUMBER"),
        ("scx:fifo.bpf.c:slice_us=1", no_main, "the object has no slice_us; constants that can"),
        ("scx:fifo.bpf.c:lost_pid=4294967296", no_main, "is a number of 32 bits, which cannot be"),
        ("scx:fifo.bpf.c,scx:twin.bpf.c", no_main, "another scheduler is named \"scx:fifo\" too"),
        ("scx:fifo.bpf.c:never_ends=1", "evenkeel: light512: scx:fifo:never_ends=1 with", runtime),
        ("scx:fifo.bpf.c:kicks_for_ever=1", "evenkeel: light512: ", "CPUs choose again for ever"),
        ("scx:fifo.bpf.c:lost_pid=3", "evenkeel: light512: ", "runnable task stall: 2:"),
    ] {
        let ran = folder.run(&compare(scheduler));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{scheduler}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(begin), "{scheduler}: {}", ran.stderr);
        assert!(ran.stderr.contains(contains), "{scheduler}: {}", ran.stderr);
    }
    let files = folder.files().len();
    assert_eq!(files, 5, "nothing is left beside the sources");
}
