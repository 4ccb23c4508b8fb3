//! Compensation, charging and placement: claims and closed forms.

mod examples;

use examples::{slice, xeon_gold_6130};
use policy::{
    BILL_MAX_NS, Compensation, Loss, Mode, NO_TASK, bill_room_ns, charge, compensate, is_starved,
    move_between, place_new, place_waking, preempt_limit, preempts, slice_ns, slice_shared_ns,
    starvation_timer_ns, time_lost, weight, weight_inverse,
};

const MS: u64 = 1_000_000;
const VICTIM: u32 = 7;
const CULPRIT: u32 = 9;

/// A slice of the victim; its culprit has no pending bills.
fn loss(time_ns: u64, lost_ns: u64, last_user: u32) -> Loss {
    Loss { time_ns, lost_ns, victim: VICTIM, last_user, room_ns: bill_room_ns(0) }
}

#[test]
fn relative_refunds_and_bills_no_task() {
    assert_eq!(
        compensate(Mode::Relative, &loss(6 * MS, MS, CULPRIT)),
        Compensation { refund_ns: MS, bill_ns: 0, culprit: NO_TASK }
    );
    assert_eq!(compensate(Mode::Relative, &loss(6 * MS, MS, NO_TASK)).refund_ns, MS);
}

#[test]
fn isolation_bills_the_last_user_what_it_refunds() {
    assert_eq!(
        compensate(Mode::Isolation, &loss(6 * MS, MS, CULPRIT)),
        Compensation { refund_ns: MS, bill_ns: MS, culprit: CULPRIT }
    );
}

#[test]
fn isolation_refunds_only_what_somebody_else_pays() {
    let nothing = Compensation { refund_ns: 0, bill_ns: 0, culprit: NO_TASK };
    assert_eq!(compensate(Mode::Isolation, &loss(6 * MS, MS, VICTIM)), nothing);
    assert_eq!(compensate(Mode::Isolation, &loss(6 * MS, MS, NO_TASK)), nothing);
    assert_eq!(compensate(Mode::Isolation, &loss(6 * MS, 0, CULPRIT)), nothing);
    assert_eq!(compensate(Mode::None, &loss(6 * MS, MS, CULPRIT)), nothing);
}

#[test]
fn a_refund_never_exceeds_the_slice() {
    assert_eq!(compensate(Mode::Isolation, &loss(MS, 5 * MS, CULPRIT)).refund_ns, MS);
}

#[test]
fn a_task_owes_at_most_a_bound_and_no_task_gets_what_is_not_billed() {
    let full = Loss { room_ns: bill_room_ns(BILL_MAX_NS), ..loss(6 * MS, MS, CULPRIT) };
    let nothing = Compensation { refund_ns: 0, bill_ns: 0, culprit: NO_TASK };
    assert_eq!(compensate(Mode::Isolation, &full), nothing);
    let half = Loss { room_ns: bill_room_ns(BILL_MAX_NS - MS / 2), ..full };
    let back = compensate(Mode::Isolation, &half);
    assert_eq!((back.refund_ns, back.bill_ns), (MS / 2, MS / 2));
    assert_eq!(bill_room_ns(u64::MAX), 0);
    // A scheduler that bills no task needs no room.
    assert_eq!(compensate(Mode::Relative, &full).refund_ns, MS);
}

#[test]
fn weights_are_the_kernels() {
    // sched_prio_to_weight and sched_prio_to_wmult, kernel/sched/core.c, Linux 5.9.
    #[rustfmt::skip]
    let kernel: [(u32, u32); 40] = [
        (88761, 48388), (71755, 59856), (56483, 76040), (46273, 92818), (36291, 118348),
        (29154, 147320), (23254, 184698), (18705, 229616), (14949, 287308), (11916, 360437),
        (9548, 449829), (7620, 563644), (6100, 704093), (4904, 875809), (3906, 1099582),
        (3121, 1376151), (2501, 1717300), (1991, 2157191), (1586, 2708050), (1277, 3363326),
        (1024, 4194304), (820, 5237765), (655, 6557202), (526, 8165337), (423, 10153587),
        (335, 12820798), (272, 15790321), (215, 19976592), (172, 24970740), (137, 31350126),
        (110, 39045157), (87, 49367440), (70, 61356676), (56, 76695844), (45, 95443717),
        (36, 119304647), (29, 148102320), (23, 186737708), (18, 238609294), (15, 286331153),
    ];
    for (nice, (kernel_weight, kernel_inverse)) in (-20..=19).zip(kernel) {
        assert_eq!(weight(nice), kernel_weight, "nice {nice}");
        // The kernel's table is rounded up in places.
        assert!(weight_inverse(weight(nice)).abs_diff(kernel_inverse) <= 1, "nice {nice}");
    }
    assert_eq!((weight(i8::MIN), weight(i8::MAX)), (88761, 15));
}

#[test]
fn virtual_time_is_time_less_refund_plus_bill() {
    assert_eq!(charge(100, 6 * MS, MS, 3, 1024), 100 + 5 * MS + 3);
}

#[test]
fn weight_scales_bill_and_time_alike() {
    assert_eq!(charge(0, 4 * MS, 0, 2 * MS, 2048), 3 * MS);
    assert_eq!(charge(0, 10, 0, 0, 3), 3413);
    assert_eq!(charge(7, 10, 0, 0, 0), 17);
}

#[test]
fn virtual_time_stops_at_its_end_instead_of_wrapping() {
    assert_eq!(charge(u64::MAX - 1, 5, 0, 0, 1024), u64::MAX);
    assert_eq!(charge(0, u64::MAX, 0, u64::MAX, 1), u64::MAX);
}

#[test]
fn a_new_task_starts_one_slice_behind_and_a_waking_one_gets_a_bounded_credit() {
    assert_eq!(place_new(0, 100 * MS, 6 * MS), 106 * MS);
    assert_eq!(place_new(200 * MS, 100 * MS, 6 * MS), 200 * MS);
    assert_eq!(place_waking(0, 100 * MS, 12 * MS), 88 * MS);
    assert_eq!(place_waking(95 * MS, 100 * MS, 12 * MS), 95 * MS);
    assert_eq!(place_waking(0, 5 * MS, 12 * MS), 0);
}

#[test]
fn slices_spread_evenly_over_the_jitter() {
    assert_eq!(slice_ns(6 * MS, 150, 0), 6 * MS * 85 / 100);
    assert_eq!(slice_ns(6 * MS, 150, u32::MAX / 2 + 1), 6 * MS);
    assert!(slice_ns(6 * MS, 150, u32::MAX).abs_diff(6 * MS * 115 / 100) <= 2);
    assert_eq!(slice_ns(6 * MS, 0, u32::MAX), 6 * MS);
    assert_eq!(slice_ns(6 * MS, 1000, 0), 1);
}

#[test]
fn slices_shrink_for_light_tasks_and_long_queues_and_never_below_a_fifth_of_a_millisecond() {
    assert_eq!(slice_shared_ns(6 * MS, 1024, 2, 2), 6 * MS);
    assert_eq!(slice_shared_ns(6 * MS, 88761, 0, 2), 6 * MS);
    assert_eq!(slice_shared_ns(6 * MS, 512, 0, 2), 3 * MS);
    assert_eq!(slice_shared_ns(6 * MS, 1024, 4, 2), 3 * MS);
    assert_eq!(slice_shared_ns(6 * MS, 15, 0, 2), 200_000);
    assert_eq!(slice_shared_ns(6 * MS, 1024, 1000, 0), 6 * MS);
    assert_eq!(slice_shared_ns(1000, 15, 0, 2), 1000);
}

#[test]
fn a_task_that_changes_queues_keeps_its_distance_and_is_not_behind_the_minimum() {
    assert_eq!(move_between(105 * MS, 100 * MS, 7 * MS), 12 * MS);
    assert_eq!(move_between(95 * MS, 100 * MS, 7 * MS), 7 * MS);
}

#[test]
fn a_running_task_gives_way_only_beyond_the_granularity() {
    let limit = preempt_limit(100 * MS, 4 * MS, 1024);
    assert_eq!(limit, 104 * MS);
    assert!(!preempts(limit, 104 * MS) && preempts(limit, 104 * MS + 1));
    assert_eq!(preempt_limit(100 * MS, 4 * MS, 2048), 102 * MS);
}

#[test]
fn who_waits_goes_first_well_before_the_watchdog() {
    let watchdog = 5000 * MS;
    assert!(!is_starved(watchdog / 4, watchdog) && is_starved(watchdog / 4 + 1, watchdog));
    assert_eq!((starvation_timer_ns(watchdog), starvation_timer_ns(0)), (watchdog / 8, MS));
}

/// Work of a scalar victim beside a culprit on one CPU, over the work of half a clean CPU.
///
/// Both always run; each slice is 1 ms; the victim's whole slice is at level 2.
fn victims_work(mode: Mode, slices: u64) -> f64 {
    let turbo = xeon_gold_6130();
    let measured = slice(&turbo, MS, 1_900_000, [0, 0, 1000]);
    let (mut victim_ns, mut culprit_ns) = (0, 0);
    let (mut bill_ns, mut used_ns, mut cycles, mut pending_total_ns) = (0, 0, 0, 0);
    for _ in 0..slices {
        used_ns += MS;
        if victim_ns <= culprit_ns {
            let lost = time_lost(&turbo, &measured, 0);
            let back = compensate(mode, &loss(MS, lost.lost_ns, CULPRIT));
            victim_ns = charge(victim_ns, MS, back.refund_ns, 0, 1024);
            bill_ns += back.bill_ns;
            pending_total_ns += back.refund_ns - back.bill_ns;
            cycles += measured.cycles;
        } else {
            culprit_ns = charge(culprit_ns, MS, 0, bill_ns, 1024);
            bill_ns = 0;
        }
        // Charged is CPU time minus pending bills, and minus refunds that no task paid.
        assert_eq!(victim_ns + culprit_ns, used_ns - bill_ns - pending_total_ns);
    }
    cycles as f64 / (slices * MS / 2 * 28 / 10) as f64
}

#[test]
fn isolation_leaves_the_victim_half_of_a_clean_cpu() {
    let work = victims_work(Mode::Isolation, 100_000);
    assert!((work - 1.0).abs() < 0.001, "{work}");
}

#[test]
fn relative_throughput_leaves_the_loss_of_its_closed_form() {
    let loss = 1.0 - 19.0 / 28.0;
    let slowdown = (2.0 - loss) / (2.0 * (1.0 - loss));
    let work = victims_work(Mode::Relative, 100_000);
    assert!((1.0 / work - slowdown).abs() < 0.001, "{work} {slowdown}");
}

#[test]
fn without_compensation_the_victim_loses_the_ratio_of_frequencies() {
    let work = victims_work(Mode::None, 100_000);
    assert!((work - 19.0 / 28.0).abs() < 0.001, "{work}");
}
