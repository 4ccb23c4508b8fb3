//! Streams, chain and player on the CPU that runs the tests.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use cpu_model::Class;
use kernels::{BLOCK_INSTRUCTIONS, Phase, Rate, Stream, Tsc, allowed, chain, play};

/// The shortest of many runs: interruptions only ever add.
fn shortest_ticks(tsc: &Tsc, run: impl Fn()) -> f64 {
    let time = || {
        let start = tsc.now();
        run();
        tsc.now() - start
    };
    (0..200).map(|_| time()).min().unwrap() as f64
}

/// The median of how much longer one takes than the other right before it: the clock may change
/// between two pairs, and an interruption spoils one pair alone.
fn median_ratio(tsc: &Tsc, longer: impl Fn(), than: impl Fn()) -> f64 {
    const PAIRS: usize = 151;
    let time = |run: &dyn Fn()| {
        let start = tsc.now();
        run();
        (tsc.now() - start) as f64
    };
    let mut ratios: Vec<f64> = (0..PAIRS)
        .map(|_| {
            let before = time(&than);
            time(&longer) / before
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[PAIRS / 2]
}

#[test]
fn a_stream_exists_exactly_where_its_class_is_allowed() {
    for class in Class::ALL {
        let stream = Stream::new(class, Rate::Full);
        assert_eq!(stream.map(|_| ()).err(), allowed(class).err(), "{class}");
    }
}

#[test]
fn every_stream_there_is_runs_and_takes_longer_with_more_blocks() {
    let tsc = Tsc::calibrate().unwrap();
    for class in Class::ALL {
        let Ok(stream) = Stream::new(class, Rate::Full) else { continue };
        stream.run(0);
        let short = shortest_ticks(&tsc, || stream.run(200));
        let long = shortest_ticks(&tsc, || stream.run(2000));
        assert!((5.0..20.0).contains(&(long / short)), "{class}: {}", long / short);
    }
}

#[test]
fn an_addition_takes_a_third_of_a_multiplication() {
    // A neighbour on the same core may slow additions more, but not all the time.
    let tsc = Tsc::calibrate().unwrap();
    let mut least = f64::MAX;
    for _ in 0..100 {
        least = least.min((chain::agreement(&tsc) - 1.0).abs());
        if least < 0.02 {
            return;
        }
    }
    panic!("{least}");
}

#[test]
fn a_paced_stream_keeps_its_rate_by_the_chain() {
    let tsc = Tsc::calibrate().unwrap();
    for class in Class::ALL {
        for cycles in [20, 40] {
            let Ok(stream) = Stream::new(class, Rate::OneIn(cycles)) else { continue };
            let blocks = 400;
            let steps = blocks * BLOCK_INSTRUCTIONS * u64::from(cycles) / chain::STEP_ADDITIONS;
            let ratio = median_ratio(&tsc, || stream.run(blocks), || chain::additions(steps));
            assert!((0.95..1.3).contains(&ratio), "{class} one in {cycles}: {ratio}");
        }
    }
}

#[test]
fn the_player_stops_and_shares_time_as_the_phases_say() {
    let tsc = Tsc::calibrate().unwrap();
    let stream = Stream::new(Class::Scalar, Rate::Full).unwrap();
    let phase = |us| Phase { stream, duration: Duration::from_micros(us) };
    let done = [AtomicU64::new(0), AtomicU64::new(0)];
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| play(&[phase(3000), phase(1000)], &tsc, &done, &stop));
        let enough = tsc.now() + tsc.ticks(Duration::from_millis(200));
        while tsc.now() < enough {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
    });
    let [long, short] = done.map(|done| done.load(Ordering::Relaxed) as f64);
    assert!((1.5..6.0).contains(&(long / short)), "{long} {short}");
}
