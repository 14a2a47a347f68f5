//! State and output so far become what the next attempt starts from. Durable, driven by the worker.
//!
//! Promises that only the current authority can. The progress it names was sealed in the target before.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, Service};
use crate::machine::rules::Law;
use crate::machine::state::State;
use crate::phase::Phase;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::here(Guard::Authority, |_, s, of| s.current_authority(of)),
    Conjunct::here(Guard::PhaseRunning, |_, s, of| s[of.job].phase == Phase::Running),
    Conjunct::sender(Guard::AttemptExecuting, |_, s, of| s[of].attempt_state == AttemptState::Executing),
    Conjunct::sender(Guard::WorkerUp, |_, s, of| s.up(s[of].attempt_worker)),
    Conjunct::sender(Guard::ReachDurable, |_, s, of| s.can_reach(s[of].attempt_worker, Service::Durable)),
    Conjunct::carried(Guard::ProgressPositive, |_, s, of| s[of].attempt_progress > 0),
    Conjunct::here(Guard::CheckpointAdvances, |_, s, of| {
        !s[of.job].checkpoint_valid || s[of.job].checkpoint != s[of].attempt_progress
    }),
];

/// Its effect, and nothing else.
#[doc(alias = "PersistCheckpoint")]
pub fn persist_checkpoint(_: &Law, s: &mut State, of: Attempt) {
    s[of.job].checkpoint = s[of].attempt_progress;
    s[of.job].checkpoint_valid = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};
    use crate::machine::rows::WorkerState;

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::PersistCheckpoint(A);
        World::complete().needs(
            step,
            &[
                (Guard::Authority, |w| w.job().authority = None),
                (Guard::PhaseRunning, |w| w.job().phase = Phase::Cancelling),
                (Guard::AttemptExecuting, |w| w.attempt().attempt_state = AttemptState::Stopped),
                (Guard::WorkerUp, |w| w.worker().worker_state = WorkerState::Down),
                (Guard::ReachDurable, |w| w.cut(Service::Durable)),
                (Guard::ProgressPositive, |w| w.attempt().attempt_progress = 0),
                (Guard::CheckpointAdvances, |w| (w.job().checkpoint, w.job().checkpoint_valid) = (2, true)),
            ],
        );
    }
}
