//! What a dead attempt wrote and nobody refers to is deleted. Target, driven by the cleaner.
//!
//! In `Remora` the attempt has stopped; in `TwoStores` its death is presumed, and a wrong presumption is
//! harmless, because what an attempt without authority wrote can never be published.

use crate::guard::Guard;
use crate::machine::conjunct::Conjunct;
use crate::machine::rows::{Attempt, AttemptState, StageState, Worker, WorkerState};
use crate::machine::rules::{Law, Module};
use crate::machine::state::State;

/// What it needs, in the spec's order.
pub static GUARDS: &[Conjunct<Attempt>] = &[
    Conjunct::here(Guard::StageWritten, |_, s, of| {
        matches!(s[of].stage_state, StageState::Partial | StageState::Complete)
    }),
    Conjunct::elsewhere(Guard::NotCommitted, |_, s, of| s[of.job].committed_attempt != Some(of)),
    Conjunct::elsewhere(Guard::AuthorityLost, |_, s, of| !s.current_authority(of)),
    Conjunct::elsewhere(Guard::AttemptStopped, |_, s, of: Attempt| stopped(s, of)).only(Module::Remora),
];

/// Its effect, and nothing else.
#[doc(alias = "CleanupStage")]
pub fn cleanup_stage(_: &Law, s: &mut State, of: Attempt) {
    s[of].stage_state = StageState::Cleaned;
}

fn stopped(s: &State, of: Attempt) -> bool {
    let down = |worker: Worker| s[worker].worker_state == WorkerState::Down;
    s[of].attempt_state == AttemptState::Stopped || s[of].attempt_worker.is_some_and(down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};

    #[test]
    fn it_needs_every_conjunct_and_a_refusal_names_the_false_one() {
        let step = Move::CleanupStage(A);
        World::stopped().needs(
            step,
            &[
                (Guard::StageWritten, |w| w.attempt().stage_state = StageState::NoStage),
                (Guard::NotCommitted, |w| w.job().committed_attempt = Some(A)),
                (Guard::AuthorityLost, |w| w.job().authority = Some(A)),
                (Guard::AttemptStopped, |w| w.attempt().attempt_state = AttemptState::Executing),
            ],
        );
    }
}
