//! What a worker records itself: where it stands in its own sequence, and between the stores' events where it fits.

use protocol::machine::{Attempt, AttemptState, Move, StageState, Wants};
use protocol::{Action, Event};

use super::super::failure::Why;
use super::super::node::Trial;
use super::super::trace::{Fact, JOB};
use super::Effort;

impl Trial<'_> {
    pub(super) fn worker(&mut self, fact: &Fact, effort: Effort) -> Result<(), Why> {
        let event = &fact.event;
        if event.action == Action::StartIncarnation {
            return Ok(());
        }
        let of = self.attempt(event.action, self.trace.token(event))?;
        if effort == Effort::Gaps && event.action != Action::ActivateRefused && self.trace.is_cut() {
            self.activate_unrecorded(of)?;
        }
        match event.action {
            Action::AdvanceAttempt => self.advance(event, of),
            Action::SendOutcome => {
                let wants = if event.detail.cause.is_some() { Wants::Failure } else { Wants::Success };
                self.step(Move::SendOutcome(of, wants))
            }
            Action::CooperativeStop => {
                match effort {
                    Effort::Plain => {}
                    Effort::Gaps => self.lose_if_it_was()?,
                    Effort::Early => {
                        // The store gave the lease, and its answer reached nobody.
                        self.activate_unrecorded(of)?;
                        self.expire_early(of)?;
                    }
                }
                self.step(Move::CooperativeStop(of))
            }
            // It was activated, the answer was lost, and asked again the store refused: the lease had ended.
            Action::ActivateRefused if self.is(of, AttemptState::Executing) => {
                if effort == Effort::Gaps {
                    self.lose_if_it_was()?;
                }
                self.step(Move::CooperativeStop(of))
            }
            Action::ActivateRefused => {
                match effort {
                    Effort::Plain => {}
                    Effort::Gaps => self.lose_if_it_was()?,
                    Effort::Early if self.node.state[JOB].reservation.is_some() => self.suspect()?,
                    Effort::Early => {}
                }
                self.step(Move::ActivateRefused(of))
            }
            _ => Err(Why::Order("it is no action of a worker")),
        }
    }

    /// Without a number, all is written.
    fn advance(&mut self, event: &Event, of: Attempt) -> Result<(), Why> {
        let most = self.trace.constants.max_progress;
        let amount = event.detail.progress.map_or(most, |count| self.trace.progress(count));
        let row = &self.node.state[of];
        let again = row.attempt_progress == amount && row.stage_state != StageState::Cleaned;
        if again && row.attempt_state == AttemptState::Executing {
            // A checkpoint that was not stored is sealed again under the same number.
            return Ok(());
        }
        self.step(Move::AdvanceAttempt(of, amount))
    }

    /// A loss, if a later epoch shows that there was one.
    fn lose_if_it_was(&mut self) -> Result<(), Why> {
        if !self.node.lost && self.node.epoch < self.trace.last_epoch { self.lose() } else { Ok(()) }
    }
}
