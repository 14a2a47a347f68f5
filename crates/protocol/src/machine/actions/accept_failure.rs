//! The attempt failed; the job retries or fails. Durable, driven by the worker's outcome.
//!
//! Spends no budget: the claim did. When the next attempt is due is the retry policy's matter.

use super::shared;
use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, Wants};
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::sender(Guard::OutcomePending, |_, s, of| s[of].pending_outcome == Some(Wants::Failure)),
    Conjunct::here(Guard::Authority, |_, s, of| s.current_authority(of)),
    Conjunct::here(Guard::PhaseRunning, |_, s, of| s[of.job].phase == Phase::Running),
    Conjunct::here(Guard::NotCancelRequested, |_, s, of| !s[of.job].cancel_requested),
];

/// Its effect, and nothing else.
#[doc(alias = "AcceptFailure")]
pub fn accept_failure(law: &Law, s: &mut State, of: Attempt) {
    shared::end_without_success(law, s, of.job);
    s[of].attempt_state = AttemptState::Stopped;
    s[of].pending_outcome = None;
}

/// `FailureEligible(a)`, always the whole of it.
pub(super) fn eligible(s: &State, of: Attempt) -> bool {
    s[of].pending_outcome == Some(Wants::Failure)
        && s.current_authority(of)
        && s[of.job].phase == Phase::Running
        && !s[of.job].cancel_requested
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::AcceptFailure(A);
        World::wants(Wants::Failure).needs(
            step,
            &[
                (Guard::OutcomePending, |w| w.attempt().pending_outcome = None),
                (Guard::Authority, |w| w.job().authority = None),
                (Guard::PhaseRunning, |w| w.job().phase = Phase::Cancelling),
                (Guard::NotCancelRequested, |w| w.job().cancel_requested = true),
            ],
        );
    }
}
