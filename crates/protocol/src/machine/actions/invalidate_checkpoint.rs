//! A checkpoint that failed verification is never used again. Durable, driven by the worker and the
//! operator.
//!
//! Does not touch an attempt that has started from it. The room adds the revision that was judged.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::Job;
use crate::machine::rules::Law;
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Job>] = &[
    Conjunct::here(Guard::NotTerminal, |_, s, job| !s.terminal(job)),
    Conjunct::here(Guard::CheckpointValid, |_, s, job| s[job].checkpoint_valid),
];

/// Its effect, and nothing else.
#[doc(alias = "InvalidateCheckpoint")]
pub fn invalidate_checkpoint(_: &Law, s: &mut State, job: Job) {
    s[job].checkpoint_valid = false;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{J, World};
    use crate::phase::Phase;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::InvalidateCheckpoint(J);
        World::executing().with(|w| w.job().checkpoint_valid = true).needs(
            step,
            &[
                (Guard::NotTerminal, |w| w.job().phase = Phase::Succeeded),
                (Guard::CheckpointValid, |w| w.job().checkpoint_valid = false),
            ],
        );
    }
}
