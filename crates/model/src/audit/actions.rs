//! An event becomes the step of the spec that it tells of, with the steps before it that nobody records.
//!
//! The effort says how far to go: [`Effort::Plain`] takes what is there, and `DispatchRead`, `Tick` and
//! `StartIncarnation`, which have no event of their own; higher efforts put further steps where they explain the
//! event. The search tries them only after every other event has been tried.

mod coordination;
mod durable;
mod worker;

use protocol::machine::{Attempt, AttemptState, Move, StageState, Wants};
use protocol::{Event, Room};

use super::failure::Why;
use super::node::{Node, Trial};
use super::trace::{DURABLE, Fact, JOB, Trace};

/// How far to go to explain an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effort {
    /// The event's own step.
    Plain,
    /// Steps that killed processes took with them; a loss.
    Gaps,
    /// A worker that let its lease end before the store did; of a gap, what is not the likeliest.
    Early,
}

impl Effort {
    pub(super) const ALL: [Self; 3] = [Self::Plain, Self::Gaps, Self::Early];
}

/// The node after the next event of a list.
pub(super) fn place(trace: &Trace<'_>, node: &Node, list: usize, effort: Effort) -> Result<Node, Why> {
    let index = node.at[list];
    let needs = trace.needs(list, index);
    if needs.iter().zip(&node.at).any(|(need, at)| need > at) {
        return Err(Why::Order("something that it rests on comes later"));
    }
    let fact = &trace.lists[list][index];
    let mut trial = Trial::new(trace, node);
    match fact.event.room {
        _ if list == DURABLE => trial.durable(fact, effort)?,
        Room::Coordination => trial.coordination(fact, effort)?,
        Room::Durable | Room::Target | Room::Worker | Room::World => trial.worker(fact, effort)?,
    }
    trial.node.at[list] += 1;
    Ok(trial.node)
}

impl Trial<'_> {
    /// Whether events of this store between its last one placed and this one may be gone with a killed process.
    fn may_lack(&self, list: usize, fact: &Fact, effort: Effort) -> bool {
        effort >= Effort::Gaps && (self.trace.cut || fact.segment > self.node.segments[list])
    }

    /// Whether the worker's own record may lack what this request rests on.
    fn worker_lacks(&self, event: &Event) -> bool {
        self.trace.lacks(event.actor, event.sequence)
    }

    /// `AdvanceAttempt` to the end and `SendOutcome`, where the worker's record ends before them.
    fn send(&mut self, event: &Event, of: Attempt, wants: Wants) -> Result<(), Why> {
        let row = &self.node.state[of];
        let missing = row.pending_outcome.is_none() && row.attempt_state == AttemptState::Executing;
        if !missing || !self.worker_lacks(event) {
            return Ok(());
        }
        if wants == Wants::Success && row.stage_state != StageState::Complete {
            self.infer(Move::AdvanceAttempt(of, self.trace.constants.max_progress))?;
        }
        self.infer(Move::SendOutcome(of, wants))
    }

    /// `ActivateAttempt`, where it went with the store's process.
    fn activate_unrecorded(&mut self, of: Attempt) -> Result<(), Why> {
        if self.is(of, AttemptState::Authorized) {
            self.infer(Move::ActivateAttempt(of))?;
            self.node.reservation = None;
            self.node.leased_in[usize::from(of.token) - 1] = self.node.epoch;
        }
        Ok(())
    }

    /// The lease ends before the store ends it, because its worker let it.
    fn expire_early(&mut self, of: Attempt) -> Result<(), Why> {
        if self.lease_is_live(of) {
            self.age(of)?;
            self.infer(Move::ExpireLease(of))?;
            self.node.early.push(of.token);
        }
        Ok(())
    }

    /// Whether the store now ends a lease that its worker had let end; then that is done.
    fn was_early(&mut self, of: Attempt) -> bool {
        let place = self.node.early.iter().position(|token| *token == of.token);
        place.map(|place| self.node.early.swap_remove(place)).is_some()
    }

    /// `DispatchRead`, `Enqueue` and `Reserve`, which went with the store's process.
    pub(super) fn reserve_unrecorded(&mut self, worker: u16) -> Result<(), Why> {
        let worker = self.up(worker)?;
        if self.node.state[JOB].holds_ticket(worker) {
            return Ok(());
        }
        if self.node.state[JOB].reservation.is_some() {
            self.suspect()?;
        }
        if !self.node.state[JOB].queued {
            if !self.node.state[JOB].dispatch_seen {
                self.infer(Move::DispatchRead(JOB))?;
            }
            self.infer(Move::Enqueue(JOB))?;
        }
        self.infer(Move::Reserve(JOB, worker))
    }
}
