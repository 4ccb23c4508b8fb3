//! Trials of real threads and programs; how large the effects are is not a matter of tests.

use std::time::Duration;

use cpu_model::Class;
use kernels::{Rate, Stream, Tsc};
use silicon::trial::hide::{Faulting, faulting};
use silicon::trial::{
    Command, Cpuid, Culprit, CulpritCommands, Plan, Progress, TrialError, Victim, run,
};

fn plan() -> Plan {
    Plan {
        victim_cpu: 0,
        culprit_cpu: 0,
        block: Duration::from_millis(20),
        pairs_min: 6,
        pairs_max: 6,
        half_width_points: 0.0,
        seed: 1,
    }
}

fn scalar() -> Stream {
    Stream::new(Class::Scalar, Rate::Full).unwrap()
}

fn shell(script: &str) -> Command {
    let words = ["sh", "-c", script].map(str::to_owned).to_vec();
    Command { words, environment: Vec::new() }
}

fn commands(wide: &str, control: &str) -> Culprit {
    Culprit::Commands(CulpritCommands {
        wide: shell(wide),
        control: shell(control),
        cpuid: Cpuid::Cpu,
    })
}

#[test]
fn a_trial_makes_the_pairs_it_was_asked_for_and_a_placebo_after_every_two() {
    let tsc = Tsc::calibrate().unwrap();
    let culprit = Culprit::Streams(scalar(), scalar());
    let mut heard = Vec::new();
    let found = run(&plan(), &Victim::Stream(scalar()), &culprit, &tsc, |done, _| heard.push(done));
    let found = found.unwrap();
    assert_eq!(heard, [1, 2, 3, 4, 5, 6]);
    assert_eq!(found.pairs.iter().filter(|pair| !pair.placebo).count(), 6);
    assert!(found.pairs.iter().skip(2).step_by(3).all(|pair| pair.placebo));
    assert!(found.pairs.iter().all(|pair| pair.control_rate > 0.0 && pair.cpu_share < 1.05));
}

#[test]
fn a_culprit_that_shares_the_cpu_halves_the_share_of_the_victim() {
    let tsc = Tsc::calibrate().unwrap();
    let spin = "while :; do :; done";
    let found =
        run(&plan(), &Victim::Stream(scalar()), &commands(spin, spin), &tsc, |_, _| {}).unwrap();
    let shares: f64 = found.pairs.iter().map(|pair| pair.cpu_share).sum();
    assert!(shares / (found.pairs.len() as f64) < 0.75, "{found:?}");
}

#[test]
fn programs_that_are_followed_are_paused_and_started_again_like_others() {
    let tsc = Tsc::calibrate().unwrap();
    let follow = |stand_in| {
        // A shell with its children, which end again and again.
        let (wide, control) = (shell("sleep 0.03; true"), shell("sleep 0.03; true"));
        let cpuid = Cpuid::Tracer { stand_in };
        let culprit = Culprit::Commands(CulpritCommands { wide, control, cpuid });
        run(&plan(), &Victim::Stream(scalar()), &culprit, &tsc, |_, _| {})
    };
    // Any fault would do to stand for CPUID: these programs have none.
    let found = follow(Some([0xf4, 0x90])).unwrap();
    assert_eq!(found.pairs.iter().filter(|pair| !pair.placebo).count(), 6);
    // Without a stand-in nothing is measured that is not hidden.
    let is_offered = faulting() == Faulting::Offered;
    assert_eq!(follow(None).is_ok(), is_offered);
}

#[test]
fn a_command_that_runs_to_its_end_is_a_victim() {
    let tsc = Tsc::calibrate().unwrap();
    let count = shell("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done");
    let victim = Victim::Command(count, Progress::Completion);
    let found = run(&plan(), &victim, &commands("sleep 9", "sleep 9"), &tsc, |_, _| {}).unwrap();
    // Work is one run, so the rate is the inverse of its CPU time.
    assert!(found.pairs.iter().all(|pair| (0.1..1e4).contains(&pair.control_rate)), "{found:?}");
}

#[test]
fn lines_of_a_command_are_its_progress() {
    let tsc = Tsc::calibrate().unwrap();
    let victim = Victim::Command(shell("while :; do echo line; done"), Progress::Lines);
    let found = run(&plan(), &victim, &commands("sleep 9", "sleep 9"), &tsc, |_, _| {}).unwrap();
    assert!(found.pairs.iter().all(|pair| pair.wide_rate > 1000.0), "{found:?}");
}

#[test]
fn programs_that_fail_or_end_at_once_are_named() {
    let tsc = Tsc::calibrate().unwrap();
    let victim = Victim::Stream(scalar());
    let failed = run(&plan(), &victim, &commands("sleep 9", "sleep 0.03; exit 4"), &tsc, |_, _| {});
    assert!(matches!(failed, Err(TrialError::Failed { .. })), "{failed:?}");
    let short = run(&plan(), &victim, &commands("sleep 9", "exit 0"), &tsc, |_, _| {});
    assert!(matches!(short, Err(TrialError::TooShort { .. })), "{short:?}");
    let missing = Command { words: vec!["/no/such/program".to_owned()], environment: Vec::new() };
    let both = CulpritCommands { wide: missing.clone(), control: missing, cpuid: Cpuid::Cpu };
    let missing = run(&plan(), &victim, &Culprit::Commands(both), &tsc, |_, _| {});
    assert!(matches!(missing, Err(TrialError::Start { .. })), "{missing:?}");
}
