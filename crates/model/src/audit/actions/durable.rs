//! Events of the durable store: each at the revision that it made or saw.

use protocol::machine::{AttemptState, Move, StageState, Wants};
use protocol::{Action, Event, Guard, Outcome, Phase};

use super::super::failure::Why;
use super::super::node::Trial;
use super::super::trace::{DURABLE, Fact, JOB, raises, revision};
use super::Effort;

impl Trial<'_> {
    pub(super) fn durable(&mut self, fact: &Fact, effort: Effort) -> Result<(), Why> {
        let event = &fact.event;
        let expected = self.node.revision + u64::from(raises(event));
        let missing = revision(event).checked_sub(expected);
        match missing.ok_or(Why::Order("the job's revision does not rise"))? {
            0 => {}
            // A job that was set aside and is offered again changes its revision and nothing of the spec's.
            1 if self.node.state[JOB].phase == Phase::Queued => self.node.revision += 1,
            _ => return Err(Why::Order("a revision of the job has no event")),
        }
        self.durable_step(fact, effort)?;
        if raises(event) {
            self.node.revision = event.order;
        }
        self.node.segments[DURABLE] = fact.segment;
        self.compare_phase(event)
    }

    fn compare_phase(&self, event: &Event) -> Result<(), Why> {
        let phase = self.node.state[JOB].phase;
        match event.detail.phase_after {
            Some(recorded) if recorded != phase => Err(Why::Effect {
                what: "phase",
                recorded: recorded.to_string(),
                replayed: phase.to_string(),
            }),
            _ => Ok(()),
        }
    }

    fn durable_step(&mut self, fact: &Fact, effort: Effort) -> Result<(), Why> {
        let event = &fact.event;
        if matches!(event.outcome, Outcome::Refused(_)) {
            return Ok(());
        }
        match event.action {
            Action::AuthorizeAttempt => self.authorize(event, self.may_lack(DURABLE, fact, effort)),
            Action::PersistCheckpoint => self.persist(event),
            Action::AcceptSuccess => {
                let of = self.attempt(event.action, self.trace.token(event))?;
                self.send(event, of, Wants::Success)?;
                self.step(Move::AcceptSuccess(of))
            }
            Action::AcceptFailure => self.fail(event),
            Action::RejectOutcome if self.was_rejected(event) => Ok(()),
            Action::RejectOutcome => {
                let of = self.attempt(event.action, self.trace.token(event))?;
                let wants = if event.detail.cause.is_some() { Wants::Failure } else { Wants::Success };
                self.send(event, of, wants)?;
                self.step(Move::RejectOutcome(of))
            }
            Action::ReapLostAttempt => {
                let of = self.attempt(event.action, self.trace.token(event))?;
                let unseen = !self.node.state[of].lost_seen;
                if unseen && (event.judged.is_empty() || self.may_lack(DURABLE, fact, effort)) {
                    self.infer(Move::ReapObserve(of))?;
                }
                self.step(Move::ReapLostAttempt(of))
            }
            Action::ScheduleRetry => self.step(Move::ScheduleRetry(JOB)),
            Action::RequestCancel => self.step(Move::RequestCancel(JOB)),
            Action::FinalizeCancel => {
                let of = self.attempt(event.action, self.trace.token(event))?;
                if self.node.state[JOB].phase == Phase::Cancelling && !self.node.state.current_authority(of) {
                    return Err(Why::Guard(event.action, Guard::Authority));
                }
                self.step(Move::FinalizeCancel(JOB))
            }
            Action::InvalidateCheckpoint => self.step(Move::InvalidateCheckpoint(JOB)),
            Action::CleanupStage => self.cleanup(event),
            _ => Err(Why::Order("it is no action of the durable store")),
        }
    }

    /// Whether it is the answer to a request that was asked again: the same refusal, of an outcome that is settled.
    fn was_rejected(&self, event: &Event) -> bool {
        let placed = &self.trace.lists[DURABLE][..self.node.at[DURABLE]];
        let same = |known: &Event| {
            (known.action, known.actor, known.sequence) == (event.action, event.actor, event.sequence)
                && known.attempt == event.attempt
        };
        placed.iter().any(|fact| same(&fact.event))
    }

    fn authorize(&mut self, event: &Event, may_lack: bool) -> Result<(), Why> {
        let worker = self.trace.worker(event).unwrap_or(self.trace.nobody());
        let worker = self.up(worker)?;
        let next = self.node.state.next_attempt(JOB);
        // A token is given once, and to one attempt.
        if self.trace.token(event) != Some(next.token) {
            return Err(Why::Guard(event.action, Guard::AttemptUnused));
        }
        if may_lack && !self.node.state[JOB].holds_ticket(worker) {
            self.reserve_unrecorded(worker.0)?;
        }
        self.step(Move::AuthorizeAttempt(JOB, worker))?;
        let progress = self.node.state[next].initial_progress;
        match event.detail.progress {
            Some(recorded) if self.trace.progress(recorded) != progress => Err(Why::Effect {
                what: "the progress that the attempt starts from",
                recorded: recorded.to_string(),
                replayed: self.trace.shown(progress),
            }),
            _ => Ok(()),
        }
    }

    fn persist(&mut self, event: &Event) -> Result<(), Why> {
        let of = self.attempt(event.action, self.trace.token(event))?;
        let sealed = self.trace.progress(event.detail.progress.unwrap_or(0));
        let executing = self.is(of, AttemptState::Executing);
        if executing && sealed > self.node.state[of].attempt_progress && self.worker_lacks(event) {
            self.infer(Move::AdvanceAttempt(of, sealed))?;
        }
        self.step(Move::PersistCheckpoint(of))?;
        let stored = self.node.state[JOB].checkpoint;
        if stored == sealed {
            return Ok(());
        }
        Err(Why::Effect {
            what: "the checkpoint's progress",
            recorded: event.detail.progress.unwrap_or(0).to_string(),
            replayed: self.trace.shown(stored),
        })
    }

    /// A permanent failure lowers the job's budget in the same statement.
    fn fail(&mut self, event: &Event) -> Result<(), Why> {
        let of = self.attempt(event.action, self.trace.token(event))?;
        self.send(event, of, Wants::Failure)?;
        if let Some(max_attempts) = event.detail.max_attempts.and_then(|max| u16::try_from(max).ok()) {
            self.node.max_attempts = self.node.max_attempts.min(max_attempts.max(of.token));
        }
        self.step(Move::AcceptFailure(of))
    }

    /// The sweep of a stage that nothing was written to, or that is swept already, takes nothing.
    fn cleanup(&mut self, event: &Event) -> Result<(), Why> {
        let of = self.attempt(event.action, self.trace.token(event))?;
        if self.is(of, AttemptState::Unused) {
            return Err(Why::Guard(event.action, Guard::AttemptUnused));
        }
        let idle = matches!(self.node.state[of].stage_state, StageState::NoStage | StageState::Cleaned);
        if idle && !self.node.state.current_authority(of) {
            return Ok(());
        }
        self.step(Move::CleanupStage(of)).map_err(|why| match why {
            Why::Guard(action, Guard::StageWritten) => Why::Guard(action, Guard::AuthorityLost),
            other => other,
        })
    }
}
