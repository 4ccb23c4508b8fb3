//! A made-up profile: a web server and a database beside a video encoder, on 8 CPUs of 4 cores.

use report::profile::{Core, Interval, Lane, Loss, Span, Stack, TimeLine, Victim, View};

const GROUPS: [&str; 5] = ["x265", "nginx", "postgres", "redis-server", "systemd-journal"];

/// A value whose interval reaches a tenth to both sides.
fn about(value: f64) -> Interval {
    Interval { value, low: value * 0.9, high: value * 1.1 }
}

fn text(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn victim(name: &str, cpu_time_s: f64, waited_s: f64, lost_s: f64, basis: &'static str) -> Victim {
    Victim {
        name: name.to_owned(),
        labels: text(&[("namespace", "shop"), ("pod", &format!("{name}-7c9f"))]),
        path: Some(format!("/kubepods.slice/{name}-7c9f.scope")),
        cpu_time_s,
        waited_s,
        lost_s: about(lost_s),
        overhead_pct: about(100.0 * lost_s / (cpu_time_s - lost_s)),
        basis,
        demands: Some(if name == "x265" { "heavy 512-bit" } else { "none" }.to_owned()),
    }
}

fn loss(victim: &str, culprit: Option<&str>, lost_s: f64, waited_s: f64) -> Loss {
    Loss {
        victim: victim.to_owned(),
        culprit: culprit.map(str::to_owned),
        lost_s: about(lost_s),
        by_hold_s: lost_s * 0.3,
        by_sibling_s: lost_s * 0.65,
        by_transition_s: lost_s * 0.05,
        waited_s,
        by_shared_core_s: waited_s * 0.7,
        by_row_s: lost_s * 0.2,
        stalled_s: (victim == "nginx").then_some(lost_s * 0.4),
    }
}

/// Numbers that look random, always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % most
    }
}

fn time_line(spans_per_cpu: usize) -> TimeLine {
    let mut numbers = Numbers(1);
    let length_s = 10.0;
    let step_s = length_s / spans_per_cpu as f64;
    let mut lane = |cpu: u32| {
        let spans = (0..spans_per_cpu).filter_map(|place| {
            let group = numbers.below(8) as usize;
            let from_s = place as f64 * step_s;
            let to_s = from_s + step_s * (2 + numbers.below(9)) as f64 / 10.0;
            let group = if group >= 5 && cpu < 4 { 0 } else { group };
            (group < GROUPS.len()).then_some(Span { from_s, to_s, group })
        });
        Lane { cpu, spans: spans.collect() }
    };
    let core = |core: u32| {
        let cpus = vec![lane(2 * core), lane(2 * core + 1)];
        let levels = (0..3).map(|place| {
            let from_s = f64::from(place) * 3.0 + f64::from(core) * 0.2;
            (from_s, from_s + 1.5, if core < 2 { 2 } else { 1 })
        });
        let levels = levels.take(3 - core.min(3) as usize).collect();
        Core { name: format!("core {core}"), cpus, levels }
    };
    let cores = (0..4).map(core).collect();
    TimeLine { length_s, cores, groups: GROUPS.map(str::to_owned).to_vec() }
}

fn stack(thread: &str, frames: &str, lost_s: f64, count: u64) -> Stack {
    Stack {
        thread: thread.to_owned(),
        group: "x265".to_owned(),
        frames: frames.split(' ').map(str::to_owned).collect(),
        lost_s,
        count,
        kind: "wide code".to_owned(),
    }
}

fn stacks() -> Vec<Stack> {
    let pool = "start_thread x265::WorkerThread::threadMain x265::WaveFront::findJob \
                x265::FrameEncoder::processRowEncoder x265::Analysis::compressCTU";
    let of =
        |below: &str, lost_s, count| stack("pool 0", &format!("{pool} {below}"), lost_s, count);
    vec![
        of("x265::Search::predInterSearch x265_pixel_sad_x4_32x32_avx512", 0.21, 812),
        of("x265::Search::predInterSearch x265_interp_8tap_horiz_pp_64x64_avx512", 0.12, 466),
        of("x265::Quant::transformNxN x265_dct32_avx512", 0.09, 350),
        of("x265::Quant::transformNxN x265_quant_avx512", 0.03, 118),
        of("x265_pixel_satd_64x64_avx512", 0.02, 77),
        stack(
            "lookahead",
            "start_thread x265::Lookahead::slicetypeDecide x265_cost_avx512",
            0.03,
            95,
        ),
    ]
}

/// The profile.
pub fn view() -> View {
    View {
        title: "this machine, 10 s".to_owned(),
        facts: text(&[
            ("CPU", "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"),
            ("CPUs", "8"),
            ("kernel", "6.1.0-32-amd64"),
            ("samples", "497, 50 a second"),
        ]),
        notes: vec!["3 of 500 samples had no result, as another task came.".to_owned()],
        has_clock: true,
        verdict: None,
        focus: Vec::new(),
        comparison: None,
        by: "program".to_owned(),
        estimator: "Estimated with pauses of cores, and counters.".to_owned(),
        victims: vec![
            victim("nginx", 9.2, 1.9, 0.376, "measured"),
            victim("postgres", 5.1, 0.8, 0.11, "measured"),
            victim("redis-server", 3.3, 0.2, 0.014, "assumed"),
            victim("x265", 31.5, 4.4, 0.05, "at least"),
            victim("systemd-journal", 0.1, 0.01, 0.0, "table"),
        ],
        losses: vec![
            loss("nginx", Some("x265"), 0.37, 1.2),
            loss("postgres", Some("x265"), 0.11, 0.6),
            loss("redis-server", Some("x265"), 0.01, 0.1),
            loss("redis-server", None, 0.004, 0.0),
            loss("nginx", Some("postgres"), 0.006, 0.3),
            loss("x265", Some("x265"), 0.05, 3.9),
            loss("x265", Some("nginx"), 0.0, 0.5),
        ],
        time_line: time_line(60),
        stacks: stacks(),
    }
}

/// The same kind of profile with as much of everything as a caller could pass, all of it hostile.
pub fn crowd() -> View {
    let hostile = |number: usize| {
        let kinds =
            ["<script>alert('x')</script>&\"", "\u{202e}gnp.exe\n\t\u{0}", "𝕏;é ", "]]>-->"];
        format!("{}{number} ", kinds[number % 4]).repeat(if number == 0 { 1000 } else { 20 })
    };
    let mut view = view();
    (view.title, view.estimator) = (hostile(0), hostile(1));
    view.facts = (0..200).map(|number| (hostile(number), hostile(number + 1))).collect();
    view.notes = (0..200).map(hostile).collect();
    let losses = [f64::NAN, f64::INFINITY, -1.0, 1e300, 0.5];
    view.victims = (0..400)
        .map(|number| Victim {
            name: hostile(number),
            labels: (0..20).map(|label| (hostile(label), hostile(label))).collect(),
            path: Some(hostile(number)),
            demands: Some(hostile(number)),
            ..victim("", losses[number % 5], losses[number % 4], losses[number % 3], "measured")
        })
        .collect();
    view.losses = (0..400 * 9)
        .map(|number| {
            let culprit = hostile(number / 400);
            loss(&hostile(number % 400), Some(&culprit), losses[number % 5], losses[number % 4])
        })
        .collect();
    view.time_line = time_line(3000);
    view.time_line.groups = (0..300).map(hostile).collect();
    view.time_line.cores.extend((4..200).map(|number| Core {
        name: hostile(number),
        cpus: vec![Lane {
            cpu: number as u32,
            spans: vec![
                Span { from_s: f64::NAN, to_s: 1.0, group: 0 },
                Span { from_s: -1.0, to_s: 1e9, group: number },
                Span { from_s: 1.0, to_s: 2.0, group: usize::MAX },
            ],
        }],
        levels: vec![(f64::NAN, f64::NAN, 255), (-1.0, 1e9, 3), (2.0, 1.0, 1)],
    }));
    view.stacks = (0..500)
        .map(|number| Stack {
            thread: hostile(number),
            group: hostile(number % 7),
            frames: (0..120).map(|frame| format!("{}{}", hostile(frame), number % 50)).collect(),
            lost_s: losses[number % 5],
            count: u64::MAX,
            kind: hostile(number % 3),
        })
        .collect();
    view
}
