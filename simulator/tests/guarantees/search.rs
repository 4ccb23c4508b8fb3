//! A hill climb from random runs towards the worst case of one bound.

use simulator::Compensation;

use crate::bounds::Bounds;
use crate::genome::{EVEN, Genome};
use crate::judge::{Judge, QUESTIONS, Question};
use crate::rng::Rng;
use crate::walk::walk;

/// Rounds after which a climb that found nothing worse begins anew.
const PATIENCE: u32 = 40;

/// The ratios of one run, or the violation that no bound allows.
pub fn judged(genome: &Genome) -> Result<[f64; QUESTIONS.len()], String> {
    judged_with(genome, EVEN)
}

/// The same of `even` with or without a part.
pub fn judged_with(
    genome: &Genome,
    compensation: Compensation,
) -> Result<[f64; QUESTIONS.len()], String> {
    let (cpu, workload, outcome) = genome.run(compensation);
    let tasks = workload.threads.len();
    let mut judge = Judge::new(Bounds::new(genome, &cpu), tasks, is_calm(genome));
    walk(&workload, &outcome, &mut judge)?;
    Ok(judge.found)
}

/// No task sleeps, tasks outnumber CPUs, and no task's share is more than a CPU.
fn is_calm(genome: &Genome) -> bool {
    if genome.clone().calm() != *genome {
        return false;
    }
    let weights = genome.kinds.iter().map(|kind| (kind.threads, policy::weight(kind.nice)));
    let sum: u32 = weights.clone().map(|(threads, weight)| threads * weight).sum();
    let threads: u32 = weights.clone().map(|(threads, _)| threads).sum();
    threads > genome.cpus() && weights.clone().all(|(_, weight)| weight * genome.cpus() <= sum)
}

/// The worst run that so many rounds find.
pub fn worst(question: Question, seed: u64, rounds: u32) -> Result<(f64, Genome), String> {
    let mut rng = Rng::new(seed);
    let calm = matches!(question, Question::Lag | Question::Lead);
    let fit = |genome: Genome| if calm { genome.calm() } else { genome };
    let judge = |genome: &Genome| {
        let found = judged(genome).map_err(|wrong| format!("{wrong}\n{genome:#?}"))?;
        Ok::<f64, String>(found[question as usize])
    };
    let first = fit(Genome::random(&mut rng));
    let mut best = (judge(&first)?, first);
    let (mut here, mut since) = (best.clone(), 0);
    for _ in 0..rounds {
        let fresh = since > PATIENCE;
        let next = if fresh { Genome::random(&mut rng) } else { here.1.mutated(&mut rng) };
        let next = fit(next);
        let ratio = judge(&next)?;
        since = if fresh || ratio > here.0 { 0 } else { since + 1 };
        if fresh || ratio >= here.0 {
            here = (ratio, next);
        }
        if here.0 > best.0 {
            best = here.clone();
        }
    }
    Ok(best)
}
