//! An evaluation with figures of our choice.

use super::{About, Evaluation, Goals, Kind, Measured, Variant, evaluate};
use crate::Setup;
use crate::mixes::testing::{mix, run};

pub(crate) fn about() -> About {
    About {
        evenkeel: "0".into(),
        title: "What <even> is worth".into(),
        description: "Over two mixes.".into(),
        judged: "even".into(),
        ablations: vec!["even-without-swaps".to_owned()],
        shown: vec!["fair".to_owned(), "even".to_owned()],
        half: Some("development".into()),
        command: "evenkeel evaluate".into(),
    }
}

/// Slowdowns under `fair`, `even` and `even` without a part, in two mixes.
pub(super) fn mixes(slowdowns: [[f64; 3]; 2]) -> Measured {
    let names = ["fair", "even", "even-without-swaps"];
    let runs = |all: [f64; 3]| names.into_iter().zip(all).map(|(name, x)| run(name, x)).collect();
    Measured {
        name: "mixes".into(),
        kind: Kind::Mixes,
        command: "mixes --mixes 2".into(),
        variant: None,
        goals: Goals::default(),
        setup: Setup::default(),
        mixes: vec![mix(1, runs(slowdowns[0])), mix(2, runs(slowdowns[1]))],
    }
}

/// The works as they are reach one of two goals, and so do they where names alone are known.
pub(crate) fn evaluation() -> Evaluation {
    let at_most = |bound| Goals {
        slowdown_max_pct: [("avx512".to_owned(), bound)].into(),
        ..Goals::default()
    };
    let scenario = |measured: Measured| Measured {
        name: "half load".into(),
        kind: Kind::Scenario,
        mixes: measured.mixes[..1].to_vec(),
        goals: at_most(2.5),
        ..measured
    };
    let plain = Measured { goals: at_most(1.5), ..mixes([[9.0, 2.0, 3.0], [8.0, 2.0, 2.5]]) };
    let names_only =
        Variant { name: "names only".into(), flags: "--sensors rules".into(), allowance: 2.0 };
    let wrong = |measured| Measured { variant: Some(names_only.clone()), ..measured };
    let variant = Measured { goals: at_most(1.5), ..mixes([[9.0, 4.5, 3.0], [8.0, 5.5, 2.5]]) };
    let measured = [
        scenario(mixes([[30.0, 2.0, 2.1], [0.0; 3]])),
        plain,
        wrong(scenario(mixes([[30.0, 5.0, 5.5], [0.0; 3]]))),
        wrong(variant),
    ];
    evaluate(about(), measured.into())
}
