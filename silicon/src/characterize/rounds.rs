//! Rounds: every kind of burst once, in an order drawn anew, so that drift hits all kinds alike.

use cpu_model::Class;
use kernels::Rate;

use crate::machine::{Machine, Others, Played, Random, Segment, Work};

/// Windows of scalar chain before the wide instructions.
const BEFORE: usize = 50;
/// Windows of wide instructions: twice as many as the longest transition takes (D 5.2.1).
pub(crate) const DURING: usize = 200;
/// Windows after the last wide instruction: D 5.2.2 watches 1.5 ms; the longest hold that was seen
/// on Skylake is 1.333 ms (i9-7940X, 18,000 samples).
pub(crate) const AFTER: usize = 1600;

/// A window that takes longer was interrupted: a halt takes 10 us (D 5.2.2), and a throttle to a
/// quarter makes 4 us of a window.
const GAP_NS: f32 = 50_000.0;

/// A kind of burst: wide instructions between two stretches of the same lighter work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Work before and after.
    pub(crate) around: Work,
    /// Work in between.
    pub(crate) middle: Work,
}

impl Kind {
    /// A class, as dense as the core can, between chains.
    pub(crate) fn of(class: Class) -> Self {
        Self { around: Work::Chain, middle: Work::Stream(class, Rate::Full) }
    }

    fn segments(self) -> [Segment; 3] {
        // A lighter stream needs as long to reach its own level as any.
        let before = if self.around == Work::Chain { BEFORE } else { DURING };
        [
            Segment { work: self.around, windows: before },
            Segment { work: self.middle, windows: DURING },
            Segment { work: self.around, windows: AFTER },
        ]
    }
}

/// One burst of a round.
#[derive(Clone, Debug)]
pub(crate) struct Burst(pub(crate) Played);

impl Burst {
    /// Windows of the middle.
    pub(crate) fn during(&self) -> &[f32] {
        &self.0.windows[1]
    }

    /// Windows after the last instruction of the middle.
    pub(crate) fn after(&self) -> &[f32] {
        &self.0.windows[2]
    }

    /// How many windows after the middle were played before anything interrupted the burst.
    pub(crate) fn undisturbed(&self) -> usize {
        let is_gap = |&&window: &&f32| window > GAP_NS;
        if self.during().iter().any(|window| is_gap(&window)) {
            return 0;
        }
        self.after().iter().position(|window| is_gap(&window)).unwrap_or(self.after().len())
    }
}

/// The bursts of many rounds.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    kinds: Vec<Kind>,
    /// By kind, then by round.
    bursts: Vec<Vec<Burst>>,
}

impl Rounds {
    /// The bursts of a kind, by round.
    pub(crate) fn of(&self, kind: Kind) -> &[Burst] {
        let index = self.kinds.iter().position(|&other| other == kind);
        index.map_or(&[], |index| &self.bursts[index])
    }

    /// Number of bursts, and of interrupted ones.
    pub(crate) fn interrupted(&self) -> (usize, usize) {
        let all = || self.bursts.iter().flatten();
        (all().count(), all().filter(|burst| burst.undisturbed() < AFTER).count())
    }
}

/// Plays rounds until a time, at least one, and reports progress after each.
pub(crate) fn play(
    machine: &mut impl Machine,
    random: &mut Random,
    (kinds, others): (&[Kind], Others),
    until_ns: f64,
    progress: &mut dyn FnMut(f64),
) -> Rounds {
    let mut rounds = Rounds { kinds: kinds.to_vec(), bursts: vec![Vec::new(); kinds.len()] };
    loop {
        for index in random.order(kinds.len()) {
            let played = machine.play(&kinds[index].segments(), others);
            rounds.bursts[index].push(Burst(played));
        }
        let now_ns = machine.now_ns();
        progress(now_ns);
        if now_ns >= until_ns {
            return rounds;
        }
    }
}
