//! Busy tasks get the weighted max-min fair shares of the CPUs that they may use, and none starves.

use crate::configuration::{Arrival, Configuration, MODES, Share};

/// Of one CPU.
const TOLERANCE: f64 = 0.03;
/// Half of the time after which the kernel would eject the scheduler.
const WAIT_MAX_MS: u64 = 2_500;

/// Equal tasks: how many, of which nice value, and on which CPUs as bits.
type Group = (usize, i8, u32);

/// Groups under `fair`: the first arrives at the start, each further one a quarter of a second
/// later.
fn of(cpus: usize, groups: &[Group]) -> Configuration {
    let tasks = groups.iter().zip(0..).flat_map(|(&(count, nice, cpus), group)| {
        (0..count).map(move |_| Arrival { nice, cpus, at_ms: 250 * group })
    });
    Configuration { seed: 0, cpus, mode: MODES[0], tasks: tasks.collect() }
}

/// How far the share of a task is from the ideal one.
fn distance(share: &Share) -> f64 {
    (share.found - share.ideal).abs()
}

/// The task that is furthest from its share; panics if one waited for too long, or if the
/// scheduler was ejected.
fn furthest(name: &str, configuration: &Configuration) -> Share {
    let shares = configuration.run().unwrap_or_else(|exit| panic!("{name}: {exit}"));
    for Share { task, wait_max_ms, .. } in &shares {
        assert!(*wait_max_ms < WAIT_MAX_MS, "{name}: {task:?} waited for {wait_max_ms} ms");
    }
    shares.into_iter().max_by(|a, b| distance(a).total_cmp(&distance(b))).expect("there are tasks")
}

/// Machines that containers with sets of CPUs make; each once ended in an ejection, or in shares
/// that were off by 16 to 40 percent of a CPU.
#[test]
fn sets_of_cpus_leave_weights_as_they_are() {
    let (left, right) = (0b0011, 0b1100);
    let cases: [(&str, usize, &[Group]); 5] = [
        (
            "60 of nice 0 and 4 of nice 19 beside 3",
            4,
            &[(3, 0, left), (60, 0, right), (4, 19, right)],
        ),
        ("nice -10 and 19 beside 4", 4, &[(4, 0, left), (6, -10, right), (10, 19, right)]),
        ("nice 0 and 10 on a CPU beside 6", 4, &[(6, 0, left), (1, 0, 0b100), (1, 10, 0b100)]),
        ("two and two beside 6", 4, &[(6, 0, left), (2, 0, right), (2, 10, right)]),
        ("two old and two new beside 8", 4, &[(8, 0, left), (2, 0, right), (2, 0, right)]),
    ];
    for (name, cpus, groups) in cases {
        let share = furthest(name, &of(cpus, groups));
        assert!(distance(&share) < TOLERANCE, "{name}: {share:?}");
    }
}

/// Tasks that are worth more than one CPU migrate, so that a task that waits gets the CPU of one
/// that it shares no CPU with.
#[test]
fn chains_of_migrations_give_a_waiting_task_its_share() {
    let cases: [(&str, usize, &[Group]); 3] = [
        ("one migration", 2, &[(1, -18, 0b11), (1, 0, 0b10), (2, 0, 0b01)]),
        ("two migrations", 3, &[(1, -20, 0b011), (1, -20, 0b110), (1, 0, 0b001), (1, 0, 0b100)]),
        (
            "three tasks worth a CPU among five",
            5,
            &[
                (1, -16, 0b11110),
                (1, -15, 0b10001),
                (1, 0, 0b00110),
                (1, -5, 0b00111),
                (2, 0, 0b00100),
                (1, 0, 0b00101),
            ],
        ),
    ];
    for (name, cpus, groups) in cases {
        let share = furthest(name, &of(cpus, groups));
        assert!(distance(&share) < TOLERANCE, "{name}: {share:?}");
    }
}

/// `docs/measurements/affinity.md` has 20,000 such configurations, with those that are further off
/// and the reasons.
#[test]
fn random_affinities_and_weights_come_near_to_the_ideal_shares() {
    let furthest_of = |seed| {
        let configuration = Configuration::random(seed);
        let name = format!("seed {}", configuration.seed);
        (distance(&furthest(&name, &configuration)), name)
    };
    let mut off: Vec<(f64, String)> = (0..300).map(furthest_of).collect();
    off.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(off[off.len() * 99 / 100].0 < TOLERANCE, "{:?}", &off[off.len() - 20..]);
}
