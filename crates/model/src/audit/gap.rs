//! Revisions of a job that have no event, because the process that recorded them was killed.
//!
//! Promises: what is put in their place are steps of the spec, as many as there are revisions, after which the
//! next event fits. Tries a few ways, the likeliest first, and gives up on long gaps.

use protocol::Event;
use protocol::machine::{Attempt, AttemptState, Move, StageState, Wants};

use super::actions::Effort;
use super::failure::Why;
use super::node::Trial;
use super::trace::{Fact, JOB};

/// Revisions that are filled at most.
const LONGEST: u64 = 6;
/// Ways that are tried for one gap.
const WAYS: u32 = 20_000;

/// A durable step that may be missing.
#[derive(Debug, Clone, Copy)]
enum Missing {
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

const LIKELY: [Missing; 9] = [
    Missing::Claim,
    Missing::Checkpoint,
    Missing::Loss,
    Missing::Retry,
    Missing::Failure,
    Missing::Cancel,
    Missing::Cancelled,
    Missing::Success,
    Missing::Invalid,
];

/// The steps to try, and how many ways are left to try.
struct Ways {
    likely: [Missing; 9],
    left: u32,
}

impl Trial<'_> {
    /// Puts so many steps before the event.
    pub(super) fn fill(&mut self, fact: &Fact, missing: u64, effort: Effort) -> Result<(), Why> {
        let gone = Why::Order("a revision of the job has no event");
        if missing > LONGEST {
            return Err(gone);
        }
        let mut likely = LIKELY;
        if effort == Effort::Early {
            // Not what was likeliest, then.
            likely.reverse();
        }
        let mut ways = Ways { likely, left: WAYS };
        if self.fill_from(fact, missing, &mut ways) { Ok(()) } else { Err(gone) }
    }

    fn fill_from(&mut self, fact: &Fact, missing: u64, ways: &mut Ways) -> bool {
        if missing == 0 {
            return self.fits(fact);
        }
        for step in ways.likely {
            if ways.left == 0 {
                return false;
            }
            ways.left -= 1;
            let mut next = Trial { trace: self.trace, node: self.node.clone() };
            if next.take_missing(&fact.event, step).is_ok() && next.fill_from(fact, missing - 1, ways) {
                self.node = next.node;
                return true;
            }
        }
        false
    }

    /// Whether the event is a step from here, to where it says.
    fn fits(&self, fact: &Fact) -> bool {
        let mut next = Trial { trace: self.trace, node: self.node.clone() };
        next.durable_step(fact, Effort::Plain).is_ok() && next.compare_phase(&fact.event).is_ok()
    }

    fn take_missing(&mut self, event: &Event, missing: Missing) -> Result<(), Why> {
        let of = Attempt { job: JOB, token: self.node.state[JOB].current_token };
        let running = self.node.state.is_attempt(of);
        self.node.revision += 1;
        match missing {
            Missing::Claim => self.claim_unrecorded(self.trace.worker(event).unwrap_or(self.trace.nobody())),
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
