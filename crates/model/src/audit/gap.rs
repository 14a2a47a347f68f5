//! Revisions of a job that have no event, because the process that recorded them was killed.
//!
//! Promises: what is put in their place are steps of the spec, as many as there are revisions, after which the
//! next event fits. Tries a few ways, the likeliest first, and gives up on long gaps.

use protocol::machine::{Attempt, AttemptState, Move, Wants};
use protocol::{Action, Event, Phase};

use super::actions::Effort;
use super::failure::Why;
use super::node::Trial;
use super::trace::JOB;

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
    pub(super) fn fill(&mut self, event: &Event, missing: u64, effort: Effort) -> Result<(), Why> {
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
        if self.fill_from(event, missing, &mut ways) { Ok(()) } else { Err(gone) }
    }

    fn fill_from(&mut self, event: &Event, missing: u64, ways: &mut Ways) -> bool {
        if missing == 0 {
            return self.fits(event);
        }
        for step in ways.likely {
            if ways.left == 0 {
                return false;
            }
            ways.left -= 1;
            let mut next = Trial { trace: self.trace, node: self.node.clone() };
            if next.take_missing(event, step).is_ok() && next.fill_from(event, missing - 1, ways) {
                self.node = next.node;
                return true;
            }
        }
        false
    }

    /// Whether the job stands where the event found it.
    fn fits(&mut self, event: &Event) -> bool {
        let row = &self.node.state[JOB];
        let token = self.trace.token(event);
        let current = Some(row.current_token);
        match event.action {
            Action::AuthorizeAttempt => row.phase == Phase::Queued && token == current.map(|token| token + 1),
            Action::ScheduleRetry => row.phase == Phase::RetryWait,
            Action::FinalizeCancel => row.phase == Phase::Cancelling,
            Action::PersistCheckpoint
            | Action::AcceptSuccess
            | Action::AcceptFailure
            | Action::ReapLostAttempt => row.phase == Phase::Running && token == current,
            _ => true,
        }
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
                self.infer(Move::SendOutcome(of, Wants::Failure))?;
                self.infer(Move::AcceptFailure(of))
            }
            Missing::Success => {
                self.execute_unrecorded(of)?;
                self.infer(Move::AdvanceAttempt(of, self.trace.constants.max_progress))?;
                self.infer(Move::SendOutcome(of, Wants::Success))?;
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
