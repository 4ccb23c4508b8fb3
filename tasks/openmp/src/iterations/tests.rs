use super::*;

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// Whether parts cover all iterations, each once, in order.
fn cover(trips: u64, parts: impl IntoIterator<Item = Range<u64>>) {
    let mut at = 0;
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        assert_eq!(part.start, at);
        at = part.end;
    }
    assert_eq!(at, trips);
}

#[test]
fn blocks_cover_every_iteration_once() {
    let mut random = Random(1);
    for _ in 0..1000 {
        let (trips, parts) = (random.below(50), 1 + random.below(9) as u32);
        let size = 1 + random.below(7);
        cover(trips, (0..parts).map(|part| block(trips, parts, part)));
        cover(trips, (0..parts).map(|part| balanced_block(trips, parts, part, size)));
        cover(trips, (0..60).map(|number| chunk(trips, size, number)));
        let mut at = 0;
        let taken = std::iter::from_fn(|| {
            let begin = at;
            at += guided(trips - at, parts, size);
            (at > begin).then_some(begin..at)
        });
        cover(trips, taken.collect::<Vec<_>>());
    }
}

#[test]
fn blocks_reach_the_last_iteration_that_is_counted() {
    for (trips, parts) in [(u64::MAX, 3), (u64::MAX, u32::MAX), (u64::MAX - 1, 2)] {
        assert_eq!(block(trips, parts, parts - 1).end, trips);
        assert_eq!(block(trips, parts, 0_u32).end, block(trips, parts, 1_u32).start);
        let last = balanced_block(trips, 3, 2, 1000);
        assert_eq!(last.end, trips);
    }
    assert_eq!(chunk(u64::MAX, u64::MAX - 1, 1), u64::MAX - 1..u64::MAX);
    assert_eq!(chunk(10, u64::MAX, 2), 10..10);
    assert_eq!(guided(u64::MAX, 1, 0), 1 << 63);
}

#[test]
fn whole_chunks_are_whole_but_for_the_last() {
    let mut random = Random(3);
    for _ in 0..500 {
        let (trips, parts, size) = (random.below(90), 1 + random.below(5), 1 + random.below(9));
        let mut at = 0;
        while at < trips {
            let taken = guided_whole(trips - at, parts as u32, size);
            at += taken;
            assert!(taken > 0 && (taken.is_multiple_of(size) || at == trips));
        }
        assert_eq!(at, trips);
    }
}

#[test]
fn no_block_has_two_iterations_more_than_another() {
    let sizes = |trips, parts: u32| {
        let all = (0..parts).map(move |part: u32| block(trips, parts, part));
        all.map(|part| part.end - part.start).collect::<Vec<u64>>()
    };
    assert_eq!(sizes(10, 4), [3, 3, 2, 2]);
    assert_eq!(sizes(2, 4), [1, 1, 0, 0]);
}

/// What a loop counts, one by one.
fn serial(first: i128, step: i128, goes_on: impl Fn(i128) -> bool) -> Vec<i128> {
    std::iter::successors(Some(first), |at| Some(at + step)).take_while(|&at| goes_on(at)).collect()
}

/// Whether both kinds of bounds give what a loop does.
fn compare<T>(first: T, last: T, step: i64)
where
    T: Index + TryFrom<i128> + Into<i128>,
{
    let (from, to, by) = (first.into(), last.into(), i128::from(step));
    let check = |span: Span, expected: &[i128]| {
        assert_eq!(span.trips, expected.len() as u64, "{from} to {to} by {by}");
        for (iteration, &value) in expected.iter().enumerate() {
            assert_eq!(T::of(span.at(iteration as u64)).into(), value);
        }
    };
    let through = serial(from, by, |at| if step > 0 { at <= to } else { at >= to });
    check(Span::through(first, last, step), &through);
    let before = serial(from, by, |at| if step > 0 { at < to } else { at > to });
    check(Span::before(first, last, step as u64, step > 0), &before);
}

fn compare_near<T>(base: i128)
where
    T: Index + TryFrom<i128> + Into<i128>,
{
    let mut random = Random(7);
    for _ in 0..2000 {
        let mut any = || base + i128::from(random.below(41)) - 20;
        let (first, last) = (any(), any());
        let step = any() - base;
        let both = (T::try_from(first), T::try_from(last));
        if let ((Ok(first), Ok(last)), true) = (both, step != 0) {
            compare(first, last, step as i64);
        }
    }
}

#[test]
fn a_loop_is_counted_as_it_would_run() {
    compare_near::<i32>(0);
    compare_near::<i64>(0);
    compare_near::<u32>(30);
    compare_near::<u64>(30);
}

#[test]
fn a_loop_at_the_limits_of_its_type_is_counted_as_it_would_run() {
    compare_near::<i32>(i32::MAX.into());
    compare_near::<i32>(i32::MIN.into());
    compare_near::<i64>(i64::MAX.into());
    compare_near::<i64>(i64::MIN.into());
    compare_near::<u32>(u32::MAX.into());
    compare_near::<u64>(u64::MAX.into());
    compare_near::<u64>(0);
    compare(i32::MIN, i32::MAX, i64::from(i32::MAX));
    compare(i64::MIN, i64::MAX, i64::MAX);
    compare(i64::MAX, i64::MIN, i64::MIN);
}

#[test]
fn the_longest_loops_are_counted() {
    assert_eq!(Span::through(i64::MIN, i64::MAX, 1).trips, u64::MAX);
    assert_eq!(Span::before(i64::MIN, i64::MAX, 1, true).trips, u64::MAX);
    assert_eq!(Span::through(i32::MIN, i32::MAX, 1).trips, 1 << 32);
    assert_eq!(Span::before(0_u64, u64::MAX, 1 << 63, true).trips, 2);
}
