//! The one compare-and-swap that publishes. Durable, driven by the worker's outcome.
//!
//! Promises that a result becomes the job's only by the current authority, before any cancel, and whole.
//! Does not look at leases: an attempt that has lost its lease but not its authority may still commit.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, StageState, Wants};
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::sender(Guard::OutcomePending, |_, s, of| s[of].pending_outcome == Some(Wants::Success)),
    Conjunct::here(Guard::Authority, |_, s, of| s.current_authority(of)),
    Conjunct::here(Guard::PhaseRunning, |_, s, of| s[of.job].phase == Phase::Running),
    Conjunct::here(Guard::NotCancelRequested, |_, s, of| !s[of.job].cancel_requested),
    Conjunct::carried(Guard::StageComplete, |_, s, of| s[of].stage_state == StageState::Complete),
];

/// Its effect, and nothing else.
#[doc(alias = "AcceptSuccess")]
pub fn accept_success(law: &Law, s: &mut State, of: Attempt) {
    let row = &mut s[of.job];
    row.phase = Phase::Succeeded;
    row.authority = None;
    row.committed_attempt = Some(of);
    row.checkpoint = law.constants.max_progress;
    row.checkpoint_valid = true;
    s[of].attempt_state = AttemptState::Committed;
    s[of].pending_outcome = None;
}

/// `CommitEligible(a)`, always the whole of it.
pub(super) fn eligible(s: &State, of: Attempt) -> bool {
    s[of].pending_outcome == Some(Wants::Success)
        && s.current_authority(of)
        && s[of.job].phase == Phase::Running
        && !s[of.job].cancel_requested
        && s[of].stage_state == StageState::Complete
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::AcceptSuccess(A);
        World::wants(Wants::Success).needs(
            step,
            &[
                (Guard::OutcomePending, |w| w.attempt().pending_outcome = Some(Wants::Failure)),
                (Guard::Authority, |w| w.job().authority = None),
                (Guard::PhaseRunning, |w| w.job().phase = Phase::Cancelling),
                (Guard::NotCancelRequested, |w| w.job().cancel_requested = true),
                (Guard::StageComplete, |w| w.attempt().stage_state = StageState::Cleaned),
            ],
        );
    }
}
