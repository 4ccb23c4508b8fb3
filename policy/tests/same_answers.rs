//! The same vectors through the library, the BPF object and the sanitized program.
//!
//! Every bit of every answer must agree, so that the kernel's scheduler decides as the
//! simulator decided.

mod examples;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cpu_model::{LEVELS_MAX, Turbo};
use examples::{Random, xeon_gold_6130};
use object::{Object, ObjectSection};
use policy::{
    Active, Alone, Anchor, Belief, CoreState, Deficit, KindVtimes, Kinds, Learned, LevelTimes,
    Loss, Meter, Mode, Rates, Shares, SiblingLevels, Slice, TaskKind, Tests, TurboRow, Users,
    WidePhase,
};

const ANSWERS: usize = 96;
const VECTORS: usize = 200_000;

/// `struct vector` of `vector.h`.
#[repr(C)]
#[derive(Clone)]
struct Vector {
    answer: [u64; ANSWERS],
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    x: u32,
    y: u32,
    z: u32,
    w: u32,
    slice: Slice,
    shares: Shares,
    turbo: Turbo,
    users: Users,
    pad: u32,
    belief: Belief,
    times: [LevelTimes; 2],
}

const SIZE: usize = size_of::<Vector>();
const _: () = assert!(SIZE == 8 * ANSWERS + 48 + 88 + 24 + 460 + 24 + 4 + 224);

/// Garbage, or, every other time, a slice that the 6130 could have run.
fn vector(random: &mut Random) -> Vector {
    let mut v = Vector {
        answer: [0; ANSWERS],
        a: random.any(),
        b: random.any(),
        c: random.any(),
        d: random.any(),
        x: random.any_u32(),
        y: random.any_u32(),
        z: random.any_u32(),
        w: random.any_u32(),
        slice: Slice {
            time_ns: random.any(),
            cycles: random.any(),
            ref_cycles: random.any(),
            level_cycles: std::array::from_fn(|_| random.any()),
            stall_cycles: random.any(),
            first_row: random.any(),
        },
        shares: Shares { q30: std::array::from_fn(|_| random.any_u32()) },
        turbo: Turbo {
            ref_khz: random.any_u32(),
            levels: random.any_u32(),
            rows: random.any_u32(),
            cores_max: std::array::from_fn(|_| random.any_u32()),
            khz: std::array::from_fn(|_| std::array::from_fn(|_| random.any_u32())),
        },
        users: Users { last: std::array::from_fn(|_| random.any_u32()) },
        pad: 0,
        belief: Belief::default(),
        times: [LevelTimes::default(); 2],
    };
    if random.below(2) == 0 {
        make_meaningful(&mut v, random);
    }
    v
}

fn make_meaningful(v: &mut Vector, random: &mut Random) {
    let time_ns = 10_000 + random.below(100_000_000);
    let khz = 1_800_000 + random.below(2_000_000);
    let cycles = time_ns * khz / 1_000_000;
    let wide = random.below(cycles + 1);
    let level_1 = random.below(wide + 1);

    v.turbo = xeon_gold_6130();
    v.slice = Slice {
        time_ns,
        cycles,
        ref_cycles: time_ns * 2_100_000 / 1_000_000,
        level_cycles: [cycles - wide, level_1, wide - level_1, 0, 0, 0],
        stall_cycles: random.below(cycles + 1),
        first_row: random.below(6),
    };
    v.shares = Shares::of(&v.slice);
    (v.a, v.b) = (khz * 1000, random.below(time_ns));
    v.x = (random.below(1 << 31)) as u32;
    v.y = random.below(6) as u32;
    v.z = random.below(4) as u32;
    v.w = random.below(4) as u32;
}

/// The answers of the library, in the order of `vector.h`.
fn answer(v: &Vector) -> [u64; ANSWERS] {
    let at = TurboRow { slow: v.y, factor_q30: v.z };
    let own_level = u8::try_from(v.w).unwrap_or(u8::MAX);
    let found = policy::turbo_row(&v.turbo, &v.shares, v.a, v.slice.first_row);
    let measured = Shares::of(&v.slice);
    let lost = policy::time_lost(&v.turbo, &v.slice, own_level);
    let mode = match v.z {
        1 => Mode::Relative,
        2 => Mode::Isolation,
        _ => Mode::None,
    };
    let room_ns = policy::bill_room_ns(v.c);
    let loss = Loss { time_ns: v.a, lost_ns: v.b, victim: v.x, last_user: v.y, room_ns };
    let back = policy::compensate(mode, &loss);
    let nice = i8::try_from(v.z.cast_signed().clamp(-128, 127)).unwrap();
    let mut answer = [0; ANSWERS];
    answer[..15].copy_from_slice(&[
        policy::mul_div(v.a, v.x, v.y),
        policy::mul_q30(v.a, v.x),
        policy::share_q30(v.a, v.b).into(),
        policy::actual_frequency_hz(v.x, v.a, v.b),
        policy::stall_perf_q30(v.x, v.a, v.b),
        policy::weight(nice).into(),
        policy::weight_inverse(v.y).into(),
        policy::charge(v.a, v.b, v.c, v.d, v.y),
        policy::place_new(v.a, v.b, v.c),
        policy::place_waking(v.a, v.b, v.c),
        policy::slice_ns(v.a, v.x, v.y),
        policy::mean_frequency_hz(&v.turbo, v.y, &v.shares),
        policy::ideal_frequency_hz(&v.turbo, &v.shares, own_level, at),
        found.slow.into(),
        found.factor_q30.into(),
    ]);
    for level in 0..LEVELS_MAX {
        answer[15 + level] = measured.q30[level].into();
    }
    answer[21..27].copy_from_slice(&[
        lost.lost_ns,
        lost.actual_hz,
        lost.ideal_hz,
        back.refund_ns,
        back.bill_ns,
        back.culprit.into(),
    ]);
    answer[27..33].copy_from_slice(&[
        policy::slice_shared_ns(v.a, v.x, v.y, v.z),
        policy::move_between(v.a, v.b, v.c),
        policy::preempt_limit(v.a, v.b, v.x),
        policy::preempts(v.a, v.b).into(),
        policy::is_starved(v.b, v.a).into(),
        policy::starvation_timer_ns(v.a),
    ]);
    answer[33..44].copy_from_slice(&answer_belief(v));
    answer[44..51].copy_from_slice(&answer_users(v));
    answer[51..57].copy_from_slice(&answer_demanded(v));
    answer[57..70].copy_from_slice(&answer_even(v));
    answer[70..72].copy_from_slice(
        &[Meter::Cycles, Meter::Energy]
            .map(|meter| policy::metered_ns(meter, &v.turbo, &v.slice, own_level)),
    );
    answer[72..74].copy_from_slice(&answer_active(v));
    answer[74..79].copy_from_slice(&answer_lag(v));
    answer[79..82].copy_from_slice(&answer_alone(v));
    answer[82..95].copy_from_slice(&answer_specialize(v));
    let owed = Deficit { deficit_ns: v.a, banked_ns: v.b, asleep_ns: v.c, ..Deficit::default() };
    answer[95] = owed.credit_ns(v.b, v.d);
    answer
}

fn answer_lag(v: &Vector) -> [u64; 5] {
    let mut anchor = Anchor { vtime_ns: v.a, clock_ns: v.b };
    [
        policy::lag_limit_ns(v.a, v.x),
        policy::lag_bound_ns(v.a, v.b, v.c),
        anchor.bound_ns(v.c, v.d, v.x.into()),
        anchor.clock_ns(v.d),
        policy::rate_above_ns(policy::rate_ns(v.a, v.x.into())),
    ]
}

fn answer_active(v: &Vector) -> [u64; 2] {
    let mut active = Active::always((v.x & 31) as usize);
    active.note((v.y & 31) as usize, v.a);
    let first = active.since(v.b) as u64;
    active.note((v.z & 31) as usize, v.b);
    [first, active.since(v.a) as u64]
}

/// A number of a vector as a level; those beyond all levels are alike.
fn level(any: u32) -> u8 {
    u8::try_from(any).unwrap_or(u8::MAX)
}

/// A core whose hardware thread changes its demand twice, the second time `b` later.
fn answer_belief(v: &Vector) -> [u64; 11] {
    let hold = LevelTimes { ns: v.slice.level_cycles };
    let mut belief = Belief { since_ns: v.d, ..Belief::default() };
    let (from, to) = (level(v.z), level(v.w));
    belief.change(&hold, from, to, v.a);
    let mut answer = [0; 11];
    answer[0] = belief.wide_until_ns();
    belief.change(&hold, to, 0, v.a.saturating_add(v.b));
    let believed = belief.since(&LevelTimes::default(), v.c);
    answer[1..7].copy_from_slice(&believed.ns);
    let mut slice = Slice { time_ns: v.b, cycles: v.c, ref_cycles: v.x.into(), ..Slice::default() };
    policy::infer(&v.turbo, policy::active_row(&v.turbo, v.y), &believed, &mut slice);
    answer[7..].copy_from_slice(&[
        slice.cycles,
        slice.ref_cycles,
        slice.level_cycles[0],
        slice.level_cycles[2],
    ]);
    answer
}

fn answer_users(v: &Vector) -> [u64; 7] {
    let mut users = v.users;
    users.note(level(v.w), v.x);
    let mut learned = Learned::default();
    learned.learn(level(v.w), v.a);
    let counted = policy::counted_times(&v.turbo, v.y as usize, &v.slice);
    let rates = Rates { min_permille: [v.shares.q30, v.users.last] };
    [
        users.above(&v.slice, level(v.z)).into(),
        learned.level(v.b).into(),
        policy::retired_level(&rates, [v.a, v.b], v.c).into(),
        policy::bill_room_ns(v.b),
        policy::active_row(&v.turbo, v.y) as u64,
        counted.ns[0],
        counted.ns[1],
    ]
}

/// A slice judged twice, so that the second answer depends on the tests of the first.
fn answer_demanded(v: &Vector) -> [u64; 6] {
    let mut tests = Tests::default();
    let mut siblings = SiblingLevels { runs: v.x & 1, possible: v.y & 7, believed: v.z & 7 };
    siblings.note(&SiblingLevels { runs: v.w & 1, possible: v.z & 7, believed: v.w & 7 });
    let (at, hold) =
        (LevelTimes { ns: v.slice.level_cycles }, LevelTimes { ns: [v.c; LEVELS_MAX] });
    let mut judge = || tests.judge(&at, &hold, v.d, &siblings, (v.w & 3) as u8);
    judge();
    let demanded = judge();
    [
        demanded.own_level.into(),
        demanded.shown_level.into(),
        tests.possible_level().into(),
        tests.without_ns[1],
        tests.hits[2].into(),
        policy::preempt_after_ns(v.w),
    ]
}

fn answer_even(v: &Vector) -> [u64; 13] {
    let row = v.x as usize;
    let core = CoreState { is_busy: v.x & 1, sibling_level: v.y, held: v.z };
    let gain_permille = policy::alone_gain_permille(v.x, v.y);
    let mut deficit =
        Deficit { deficit_ns: v.a, banked_ns: v.b, asleep_ns: v.c, ..Deficit::default() };
    let forced_idle_ns = deficit.forced_idle_ns(gain_permille);
    deficit.wakes(v.a, v.d);
    let woken_ns = deficit.deficit_ns;
    deficit.waited(v.b);
    let banked_ns = deficit.bank(v.a);
    deficit.sleeps(v.a);
    deficit.repay(v.c, gain_permille);
    let mut learned = Learned::default();
    learned.learn_shown(level(v.w), level(v.x), v.a);
    [
        policy::mix_loss_permille(&v.turbo, row, level(v.y), level(v.z)).into(),
        policy::mix_price_ns(v.x),
        policy::mix_idle_cost_permille(&v.turbo, row, level(v.w), &core, v.w).into(),
        policy::mix_swaps(v.x, v.y).into(),
        gain_permille.into(),
        banked_ns,
        forced_idle_ns,
        woken_ns,
        deficit.deficit_ns,
        deficit.banked_ns,
        learned.level(v.b).into(),
        policy::mix_no_swap_until_ns(v.d),
        policy::forces_switch_out(v.a).into(),
    ]
}

fn answer_alone(v: &Vector) -> [u64; 3] {
    let gain_permille = policy::alone_gain_permille(v.x, v.y);
    let mut leader = Deficit { lead_ns: v.b, ..Deficit::default() };
    let mut all = Alone { alone_ns: v.c, ran_ns: v.d };
    all.add(v.a, v.b);
    leader.ran(&all, v.a, v.b, gain_permille);
    [all.alone_ns.wrapping_add(all.ran_ns), leader.lead_ns, leader.leads().into()]
}

fn answer_specialize(v: &Vector) -> [u64; 13] {
    let kinds = Kinds { wide_tasks: v.x, narrow_tasks: v.y, wide_cores: v.z, narrow_cores: v.w };
    let kind = [TaskKind::Narrow, TaskKind::Default, TaskKind::Wide, TaskKind::Default];
    let mut phase = WidePhase { ran_ns: v.a, short_q16: v.x, is_wide: v.y & 1 };
    let vtimes = KindVtimes { wide_ns: v.a, narrow_ns: v.b };
    let ends_by_call = phase.ends_by_call(v.z & 1 != 0);
    phase.ran(v.b);
    let left_ns = phase.left_ns(v.c);
    phase.begins();
    let short_q16 = phase.short_q16;
    phase.times_out(v.w & 1 != 0);
    let is_renewed = phase.is_wide();
    phase.ends();
    [
        policy::may_change_cores(v.a, v.b, v.c).into(),
        kinds.adds(v.a & 1 != 0).into(),
        kinds.removes().into(),
        policy::rank(v.x & 1 != 0, kind[(v.y & 3) as usize]) as u64,
        ends_by_call.into(),
        left_ns,
        short_q16.into(),
        phase.ran_ns,
        phase.is_wide().into(),
        is_renewed.into(),
        kinds.adds_by_lag(vtimes, v.c).into(),
        kinds.removes_by_lag(vtimes).into(),
        kinds.narrow_first(vtimes).into(),
    ]
}

/// The vectors as the C programs read them, answers still 0.
fn bytes(vectors: &[Vector]) -> Vec<u8> {
    let mut all = Vec::with_capacity(vectors.len() * SIZE);
    for v in vectors {
        // SAFETY: repr(C) without padding (its size is the sum of its fields'), so all is
        // initialised; the slice lives no longer than `v`, the vector behind its pointer.
        let one = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(v).cast::<u8>(), SIZE) };
        all.extend_from_slice(one);
    }
    all
}

/// Fails at the first vector whose answers in `all` are not the library's.
fn compare(vectors: &[Vector], all: &[u8]) {
    assert_eq!(all.len(), vectors.len() * SIZE);
    let mut distinct = std::collections::BTreeSet::new();
    for (number, (v, answered)) in vectors.iter().zip(all.chunks_exact(SIZE)).enumerate() {
        let theirs: Vec<u64> = answered[..8 * ANSWERS]
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(theirs, answer(v), "vector {number}");
        distinct.insert(theirs[21]);
    }
    assert!(distinct.len() > vectors.len() / 10, "the vectors hardly ever lose time");
}

fn vectors() -> Vec<Vector> {
    let mut random = Random::new(1);
    (0..VECTORS).map(|_| vector(&mut random)).collect()
}

/// A file in the folder that cargo gives this test.
fn out(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Compiles a file of `tests/vectors`; `None`, with a message, where that compiler is missing.
fn compile<S: AsRef<OsStr>>(compiler: &str, flags: &[S], source: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = out(&format!("{source}.out"));
    let done = Command::new(compiler)
        .args(flags)
        .arg("-Iinclude")
        .arg("-I../cpu-model/include")
        .arg("-o")
        .arg(&output)
        .arg(format!("tests/vectors/{source}"))
        .current_dir(root)
        .output();
    match done {
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            Some(output)
        }
        Err(error) => {
            let strict = std::env::var("EVENKEEL_CI").is_ok_and(|value| value == "1");
            assert!(!strict, "{compiler}: {error}; in CI this may not be skipped");
            // Not by a macro, whose output the harness hides when a test passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {compiler}: {error}");
            None
        }
    }
}

/// The program of an object, its references to constants pointing at `constants`.
fn link(file: &object::File<'_>, constants: &[u8]) -> Vec<u8> {
    let text = file.section_by_name(".text").expect("a program");
    let mut program = text.data().unwrap().to_vec();
    for (offset, _) in text.relocations() {
        // A 64-bit load takes two instructions; each has a half of the address.
        let at = usize::try_from(offset).unwrap();
        assert_eq!(program[at], 0x18, "only loads of addresses are relocated");
        let addend = u32::from_le_bytes(program[at + 4..at + 8].try_into().unwrap());
        let address = constants.as_ptr() as u64 + u64::from(addend);
        program[at + 4..at + 8].copy_from_slice(&address.to_le_bytes()[..4]);
        program[at + 12..at + 16].copy_from_slice(&address.to_le_bytes()[4..]);
    }
    program
}

#[test]
fn a_bpf_program_gives_the_same_bits() {
    // All in one function: `rbpf` cannot call backwards.
    let inline = ["-mllvm", "-inline-threshold=100000"];
    let flags = ["-O2", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror", "-c"];
    let flags = [&flags[..], &inline].concat();
    let Some(path) = compile("clang", &flags, "vector.bpf.c") else { return };
    let object = std::fs::read(path).unwrap();
    let file = object::File::parse(object.as_slice()).unwrap();
    let constants = match file.section_by_name(".rodata") {
        Some(section) => section.data().unwrap().to_vec(),
        None => Vec::new(),
    };
    let program = link(&file, &constants);
    let vectors = vectors();
    let mut all = bytes(&vectors);

    let mut vm = rbpf::EbpfVmRaw::new(Some(&program)).unwrap();
    let start = constants.as_ptr() as u64;
    vm.register_allowed_memory(start..start + constants.len() as u64);
    for one in all.chunks_exact_mut(SIZE) {
        assert_eq!(vm.execute_program(one).unwrap(), 0);
    }
    compare(&vectors, &all);
}

const SANITIZE: [&str; 6] =
    ["-O1", "-std=c11", "-Wall", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"];

#[test]
fn no_behaviour_is_undefined_and_the_bits_are_the_same() {
    let Some(program) = compile("cc", &SANITIZE, "sanitized.c") else { return };
    let vectors = vectors();
    let input = bytes(&vectors);
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", done.status);
    writer.join().unwrap().unwrap();
    compare(&vectors, &done.stdout);
}

#[test]
fn the_sanitizer_stops_a_planted_overflow() {
    let Some(program) = compile("cc", &SANITIZE, "seeded.c") else { return };
    let done = Command::new(program).output().unwrap();
    assert!(String::from_utf8_lossy(&done.stderr).contains("signed integer overflow"));
    assert!(!done.status.success());
}
