//! The cost of the way to a class's own level.

use super::fall::DISCARD_NS;
use super::rounds::Burst;

/// Differences of many bursts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// How much longer the first half of the instructions took than the second, over the same in
    /// scalar code, in ns.
    pub(crate) cost_ns: Vec<f64>,
    /// Bursts whose difference was more than 100 us.
    pub(crate) discarded: usize,
}

/// D 5.2.1: the same code twice; only the first run contains a transition.
fn difference_ns(burst: &Burst) -> f64 {
    let windows = burst.during();
    let (first, second) = windows.split_at(windows.len() / 2);
    let sum = |windows: &[f32]| windows.iter().map(|&window| f64::from(window)).sum::<f64>();
    sum(first) - sum(second)
}

/// The cost in each round, less the difference between the same windows of scalar code.
pub(crate) fn entries(bursts: &[Burst], control: &[Burst]) -> Entries {
    let mut entries = Entries::default();
    for (burst, control) in bursts.iter().zip(control) {
        let (cost_ns, nothing_ns) = (difference_ns(burst), difference_ns(control));
        if cost_ns.abs() > DISCARD_NS || nothing_ns.abs() > DISCARD_NS {
            entries.discarded += 1;
        } else {
            entries.cost_ns.push(cost_ns - nothing_ns);
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Played;

    fn burst(during: Vec<f32>) -> Burst {
        Burst(Played { windows: vec![Vec::new(), during, Vec::new()], observed: Vec::new() })
    }

    #[test]
    fn the_cost_is_what_the_first_half_takes_longer() {
        let scalar = burst(vec![1000.0; 200]);
        let mut windows = vec![1000.0; 200];
        windows[0] = 5000.0;
        windows[1] = 4000.0;
        let preempted = burst([vec![900_000.0], vec![1000.0; 199]].concat());
        let entries = entries(&[burst(windows), preempted], &[scalar.clone(), scalar]);
        assert_eq!((entries.cost_ns, entries.discarded), (vec![7000.0], 1));
    }
}
