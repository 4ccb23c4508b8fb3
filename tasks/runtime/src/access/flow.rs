//! How tokens go down the chains of accesses.

use super::Then;
use super::link::{
    ALLOWED, ALONE, ARRIVED, BOTH, CHILD, ENDED, IS_ALLOWED, LAST_INSIDE, LINKED, Link, PASSED,
    SHARES, SPLIT, Step, WEAK, next_of,
};

/// Tokens that are on their way.
#[derive(Default)]
pub(super) struct Flow {
    /// Steps that are still to be taken: none but where accesses lie inside each other.
    steps: Vec<Step>,
}

impl Flow {
    /// Takes a step, and all that follow from it.
    ///
    /// # Safety
    /// The access is held.
    pub(super) unsafe fn take(&mut self, step: Step, then: &impl Then) {
        let mut next = Some(step);
        while let Some(step) = next {
            // SAFETY: the access of the step is held, and so are those of the steps that are added.
            unsafe {
                match step {
                    Step::Give(access, tokens) => self.give(access, tokens, then),
                    Step::GiveTwo(low, tokens) => {
                        // Once the first access has its tokens, the split and the access may be
                        // gone.
                        self.steps.push(Step::Give((*low).cold().child.get(), tokens));
                        self.give(low, tokens, then);
                    }
                    Step::Arrive(access) => self.arrive(&*access, then),
                    Step::End(access) => {
                        if (*access).reaches(ENDED) {
                            self.leave(&*access, then);
                        }
                    }
                }
            }
            next = self.steps.pop();
        }
    }

    /// An access is complete: passes its tokens on.
    unsafe fn leave(&mut self, access: &Link, then: &impl Then) {
        self.steps.push(access.passes());
        // SAFETY: the access has ended, and no other thread passes its tokens on.
        unsafe { access.die(then) };
    }

    /// Gives tokens to an access, and goes down the chain as far as they reach.
    ///
    /// An access that was given a token arrives only after the next one has the token too: until
    /// then the access does not pass on, and so neither of the two can be gone.
    unsafe fn give(&mut self, first: *const Link, tokens: u64, then: &impl Then) {
        let (mut next, mut tokens) = (first, tokens);
        let mut given: Option<&Link> = None;
        // SAFETY: an access without `ALONE` is held; an access that got `ALLOWED` in this step is
        // held until its arrival.
        unsafe {
            while let Some(access) = next.as_ref() {
                let before = access.add(tokens);
                let now = before + tokens;
                if let Some(given) = given.take() {
                    self.arrive(given, then);
                }
                if before & IS_ALLOWED == 0 {
                    given = Some(access);
                    if now & CHILD != 0 {
                        self.steps.push(Step::Give(access.cold().child.get(), BOTH));
                    }
                    if now & (LINKED | SHARES) != LINKED | SHARES {
                        break;
                    }
                    if now & SPLIT != 0 {
                        self.steps.push(Step::Arrive(access));
                        self.steps.push(Step::GiveTwo(next_of(now), ALLOWED));
                        return;
                    }
                    (next, tokens) = (next_of(now), ALLOWED);
                } else if before & ALONE == 0 && now & (PASSED | LINKED) == PASSED | LINKED {
                    if now & (LAST_INSIDE | SPLIT) != 0 {
                        self.leave(access, then);
                        break;
                    }
                    (next, tokens) = (next_of(now), BOTH);
                    access.die(then);
                } else {
                    break;
                }
            }
            if let Some(given) = given {
                self.arrive(given, then);
            }
        }
    }

    /// The next access has the token: now the task of this access may use the data.
    unsafe fn arrive(&mut self, access: &Link, then: &impl Then) {
        // SAFETY: the access is held, and so is its block.
        unsafe {
            if !access.is(WEAK) {
                (*access.of()).allow(then);
            } else if access.reaches(ARRIVED) {
                self.leave(access, then);
            }
        }
    }
}
