//! Revisions of a job that have no event, because the process that recorded them was killed.
//!
//! Promises: what is put in their place are steps of the spec, as many as there are revisions. They are choices of the
//! search like the events are, because what another store or a worker recorded may need one of them before the next
//! revision comes. Gives up on long gaps.

use protocol::machine::{Attempt, AttemptState, Move, StageState, Wants};

use super::failure::Why;
use super::node::{Node, Trial};
use super::trace::{DURABLE, JOB, Trace, raises, revision};

/// Revisions that are filled at most.
const LONGEST: u64 = 6;
/// A durable step that may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Claim,
    Checkpoint,
    Failure,
    Loss,
    Retry,
    Cancel,
    Cancelled,
    Success,
    Invalid,
}

/// The likeliest last.
const LIKELY: [Missing; 9] = [
    Missing::Invalid,
    Missing::Success,
    Missing::Cancelled,
    Missing::Cancel,
    Missing::Failure,
    Missing::Retry,
    Missing::Loss,
    Missing::Checkpoint,
    Missing::Claim,
];

/// What may be missing before the job's next recorded revision, the likeliest last.
pub(super) fn missing(trace: &Trace<'_>, node: &Node) -> &'static [Missing] {
    let gap = match trace.lists[DURABLE].get(node.at[DURABLE]) {
        Some(fact) if trace.cut || fact.segment > node.segments[DURABLE] => {
            revision(&fact.event).saturating_sub(node.revision + u64::from(raises(&fact.event)))
        }
        // The last revision may be known only from what others rest on: its answer reached nobody.
        None if trace.cut => trace.rested_on.saturating_sub(node.revision),
        _ => 0,
    };
    if (1..=LONGEST).contains(&gap) { &LIKELY } else { &[] }
}

impl Trial<'_> {
    /// Takes a step that nobody recorded, at the next revision.
    pub(super) fn take_missing(&mut self, missing: Missing) -> Result<(), Why> {
        let of = Attempt { job: JOB, token: self.node.state[JOB].current_token };
        let running = self.node.state.is_attempt(of);
        self.node.revision += 1;
        match missing {
            Missing::Claim => {
                let next = self.node.state.next_attempt(JOB);
                self.claim_unrecorded(self.trace.holder(next.token))
            }
            Missing::Retry => self.infer(Move::ScheduleRetry(JOB)),
            Missing::Cancel => self.infer(Move::RequestCancel(JOB)),
            Missing::Cancelled => self.infer(Move::FinalizeCancel(JOB)),
            Missing::Invalid => self.infer(Move::InvalidateCheckpoint(JOB)),
            _ if !running => Err(Why::Order("nothing runs")),
            Missing::Loss => self.lose_unrecorded(of),
            Missing::Checkpoint => {
                self.execute_unrecorded(of)?;
                self.seal_unrecorded(of)?;
                self.infer(Move::PersistCheckpoint(of))
            }
            Missing::Failure => {
                self.execute_unrecorded(of)?;
                self.send_unrecorded(of, Wants::Failure)?;
                self.infer(Move::AcceptFailure(of))
            }
            Missing::Success => {
                self.execute_unrecorded(of)?;
                self.send_unrecorded(of, Wants::Success)?;
                self.infer(Move::AcceptSuccess(of))
            }
        }
    }

    /// What the worker's own record says was sealed, else one more than is stored.
    fn seal_unrecorded(&mut self, of: Attempt) -> Result<(), Why> {
        let sealed = self.node.state[of].attempt_progress;
        let row = &self.node.state[JOB];
        let stored = if row.checkpoint_valid { row.checkpoint } else { 0 };
        if sealed > stored { Ok(()) } else { self.infer(Move::AdvanceAttempt(of, sealed + 1)) }
    }

    /// The outcome, unless the worker's own record has it.
    fn send_unrecorded(&mut self, of: Attempt, wants: Wants) -> Result<(), Why> {
        if self.node.state[of].pending_outcome == Some(wants) {
            return Ok(());
        }
        if wants == Wants::Success && self.node.state[of].stage_state != StageState::Complete {
            self.infer(Move::AdvanceAttempt(of, self.trace.constants.max_progress))?;
        }
        self.infer(Move::SendOutcome(of, wants))
    }

    fn execute_unrecorded(&mut self, of: Attempt) -> Result<(), Why> {
        if self.is(of, AttemptState::Authorized) {
            self.infer(Move::ActivateAttempt(of))?;
            self.node.reservation = None;
            self.node.leased_in[usize::from(of.token) - 1] = self.node.epoch;
        }
        Ok(())
    }

    /// The way from the outbox to a claim.
    pub(super) fn claim_unrecorded(&mut self, worker: u16) -> Result<(), Why> {
        self.reserve_unrecorded(worker)?;
        let worker = self.up(worker)?;
        self.infer(Move::AuthorizeAttempt(JOB, worker))
    }

    fn lose_unrecorded(&mut self, of: Attempt) -> Result<(), Why> {
        if self.lease_is_live(of) {
            self.age(of)?;
            self.infer(Move::ExpireLease(of))?;
        }
        if self.node.state[JOB].reservation == self.node.state[of].attempt_worker {
            self.suspect()?;
        }
        if !self.node.state[of].lost_seen {
            self.infer(Move::ReapObserve(of))?;
        }
        self.infer(Move::ReapLostAttempt(of))
    }
}
