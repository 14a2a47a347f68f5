//! The three step properties, under the spec's names: what no step may do.
//!
//! Promises: each is the spec's formula over a state and its successor. The liveness properties, which are
//! about whole behaviours, are the model's (`crates/model`).

use super::rows::Wants;
use super::rows::{JobRow, StageState};
use super::state::State;
use crate::phase::Phase;

/// A step property: its name in the spec and its formula.
#[derive(Debug, Clone, Copy)]
pub struct StepProperty {
    /// The spec's name.
    pub name: &'static str,
    /// Whether a step from the first state to the second keeps it.
    pub holds: fn(&State, &State) -> bool,
}

/// All three, in the spec's order.
pub static STEP_PROPERTIES: [StepProperty; 3] = [
    StepProperty { name: "TerminalStep", holds: terminal_step },
    StepProperty { name: "FenceStep", holds: fence_step },
    StepProperty { name: "CommitLinearizationStep", holds: commit_linearization_step },
];

fn every_job(before: &State, after: &State, holds: impl Fn(&JobRow, &JobRow) -> bool) -> bool {
    before.jobs.iter().zip(&after.jobs).all(|(old, new)| holds(old, new))
}

/// `TerminalStep`: a terminal row never changes.
#[doc(alias = "TerminalStep")]
#[must_use]
pub fn terminal_step(before: &State, after: &State) -> bool {
    every_job(before, after, |old, new| {
        !old.phase.is_terminal()
            || (new.phase == old.phase
                && new.cancel_requested == old.cancel_requested
                && new.current_token == old.current_token
                && new.authority == old.authority
                && new.committed_attempt == old.committed_attempt
                && new.checkpoint == old.checkpoint
                && new.checkpoint_valid == old.checkpoint_valid)
    })
}

/// `FenceStep`: tokens only rise.
#[doc(alias = "FenceStep")]
#[must_use]
pub fn fence_step(before: &State, after: &State) -> bool {
    every_job(before, after, |old, new| new.current_token >= old.current_token)
}

/// `CommitLinearizationStep`: what is committed was authoritative, asked for, not cancelled and whole, and
/// nothing was committed before.
#[doc(alias = "CommitLinearizationStep")]
#[must_use]
pub fn commit_linearization_step(before: &State, after: &State) -> bool {
    every_job(before, after, |old, new| {
        new.committed_attempt == old.committed_attempt
            || new.committed_attempt.is_some_and(|of| {
                old.committed_attempt.is_none()
                    && old.phase == Phase::Running
                    && old.authority == Some(of)
                    && of.token == old.current_token
                    && before.is_attempt(of)
                    && before[of].pending_outcome == Some(Wants::Success)
                    && !old.cancel_requested
                    && before[of].stage_state == StageState::Complete
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Move;
    use crate::machine::fixture::{A, World};

    #[test]
    fn terminal_step_is_broken_by_any_change_of_a_terminal_row() {
        let spoils: [fn(&mut World); 7] = [
            |w| w.job().phase = Phase::Queued,
            |w| w.job().cancel_requested = true,
            |w| w.job().current_token = 2,
            |w| w.job().authority = Some(A),
            |w| w.job().committed_attempt = None,
            |w| w.job().checkpoint = 1,
            |w| w.job().checkpoint_valid = false,
        ];
        for spoil in spoils {
            let before = World::committed();
            let after = before.clone().with(spoil);
            assert!(terminal_step(&before.state, &before.state));
            assert!(!terminal_step(&before.state, &after.state));
        }
    }

    #[test]
    fn fence_step_is_broken_by_a_token_that_falls() {
        let before = World::executing();
        let after = before.clone().with(|w| w.job().current_token = 0);
        assert!(fence_step(&after.state, &before.state));
        assert!(!fence_step(&before.state, &after.state));
    }

    #[test]
    fn commit_linearization_step_is_broken_by_a_commit_without_each_of_its_grounds() {
        let spoils: [fn(&mut World); 7] = [
            |w| w.job().committed_attempt = Some(crate::machine::Attempt { token: 2, ..A }),
            |w| w.job().phase = Phase::Cancelling,
            |w| w.job().authority = None,
            |w| w.job().current_token = 2,
            |w| w.attempt().pending_outcome = None,
            |w| w.job().cancel_requested = true,
            |w| w.attempt().stage_state = StageState::Partial,
        ];
        let before = World::wants(Wants::Success);
        let after = before.clone().played(&[Move::AcceptSuccess(A)]);
        assert!(commit_linearization_step(&before.state, &after.state));
        for spoil in spoils {
            assert!(!commit_linearization_step(&before.clone().with(spoil).state, &after.state));
        }
    }
}
