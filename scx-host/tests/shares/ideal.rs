//! The weighted max-min fair shares of tasks that each may use some CPUs: water-filling.

/// A busy task: its weight, and the CPUs that it may use as bits.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    pub weight: f64,
    pub cpus: u32,
}

/// The share of one CPU that each task gets if all shares rise in proportion to the weights, and
/// each stops where its task has a whole CPU, or where a set of CPUs has nothing left.
///
/// Shares are possible if no set of CPUs has to give more than its own time to the tasks that may
/// run nowhere else (Hall's condition), and no task has more than one CPU (Gonzalez and Sahni,
/// 1976: such shares can be scheduled with preemption so that no task runs on two CPUs at once).
pub fn shares(cpus: usize, demands: &[Demand]) -> Vec<f64> {
    let mut fixed: Vec<Option<f64>> = vec![None; demands.len()];
    while fixed.contains(&None) {
        let alone = limit_alone(demands, &fixed);
        let sets = 1..1u32 << cpus;
        let limits = sets.map(|set| (limit_of(set, demands, &fixed), set));
        let (level, set) = limits.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are CPUs");
        let reached = level.min(alone);
        for (share, demand) in fixed.iter_mut().zip(demands) {
            let is_capped = demand.weight * reached >= 1.0 - 1e-12;
            let is_in_set = level <= alone && demand.cpus & !set == 0;
            if share.is_none() && (is_capped || is_in_set) {
                *share = Some((demand.weight * reached).min(1.0));
            }
        }
    }
    fixed.into_iter().flatten().collect()
}

/// The level at which the heaviest task that still rises has a whole CPU.
fn limit_alone(demands: &[Demand], fixed: &[Option<f64>]) -> f64 {
    let rising = demands.iter().zip(fixed).filter(|(_, share)| share.is_none());
    rising.map(|(demand, _)| 1.0 / demand.weight).fold(f64::INFINITY, f64::min)
}

/// The level at which a set of CPUs has nothing left for tasks that may run nowhere else.
fn limit_of(set: u32, demands: &[Demand], fixed: &[Option<f64>]) -> f64 {
    let (mut left, mut weight) = (f64::from(set.count_ones()), 0.0);
    for (demand, share) in demands.iter().zip(fixed) {
        if demand.cpus & !set == 0 {
            match share {
                Some(share) => left -= share,
                None => weight += demand.weight,
            }
        }
    }
    if weight > 0.0 { left.max(0.0) / weight } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cpus: usize, demands: &[(f64, u32)]) -> Vec<f64> {
        let demands: Vec<_> =
            demands.iter().map(|&(weight, cpus)| Demand { weight, cpus }).collect();
        shares(cpus, &demands)
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near && found.len() == expected.len(), "{found:?} {expected:?}");
    }

    #[test]
    fn free_tasks_share_by_weight_and_none_has_more_than_a_cpu() {
        assert_near(&of(1, &[(1.0, 1), (3.0, 1)]), &[0.25, 0.75]);
        assert_near(&of(2, &[(1.0, 3), (1.0, 3), (9.0, 3)]), &[0.5, 0.5, 1.0]);
        assert_near(&of(4, &[(1.0, 15), (9.0, 15)]), &[1.0, 1.0]);
    }

    #[test]
    fn bound_tasks_leave_the_rest_to_those_that_may_go_elsewhere() {
        // Two tasks bound to CPU 0, and one that may use both, which has CPU 1 for itself.
        assert_near(&of(2, &[(1.0, 1), (1.0, 1), (1.0, 3)]), &[0.5, 0.5, 1.0]);
        // One bound to each, one free: all three have two thirds.
        assert_near(&of(2, &[(1.0, 1), (1.0, 2), (1.0, 3)]), &[2.0 / 3.0; 3]);
        // A chain: CPU 0 is crowded, CPUs 1 and 2 are not.
        let chain = [(1.0, 1), (1.0, 1), (1.0, 3), (1.0, 6), (1.0, 4)];
        assert_near(&of(3, &chain), &[0.5, 0.5, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
    }
}
