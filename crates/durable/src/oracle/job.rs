//! A job: the spec's variables of it, and what lies beside them.

use std::collections::BTreeMap;

use protocol::machine::{Attempt, Constants, Job, JobRow as Variables, Law, Module, Move, State, Worker};
use protocol::{
    AttemptId, Guard, Incarnation, JobId, JobSpec, Phase, Stamped, Timestamp, Token, UserProgress, Verdict,
};

use super::mark;
use crate::{Checkpoint, Document, Ended, ProgramExit, PublishedResult, Retried, Submit};

/// The one job of a job's own state.
pub(super) const JOB: Job = Job(0);
/// The one worker of it: which incarnation claims is no matter of the durable room.
pub(super) const WORKER: Worker = Worker(0);
/// The progress of a complete attempt.
const COMPLETE: u16 = u16::MAX;

/// What is known of an attempt beside the spec's variables.
pub(super) struct AttemptNote {
    pub(super) attempt: AttemptId,
    pub(super) worker: Incarnation,
    pub(super) epoch: u64,
    pub(super) started_at: Timestamp,
    /// The job's revision that the claim made.
    pub(super) revision: u64,
    /// The checkpoint it began with; 0 for none.
    pub(super) inherited: u64,
    pub(super) cancel_requested_at: Option<Timestamp>,
    pub(super) end: Option<EndNote>,
}

/// How an attempt's authority ended.
pub(super) struct EndNote {
    pub(super) at: Timestamp,
    pub(super) verdict: Verdict,
    pub(super) error: Option<String>,
    pub(super) exit: Option<ProgramExit>,
    /// The answer it was given.
    pub(super) answer: Stamped<Ended>,
}

/// A stored checkpoint, and the job's revision that declared it bad.
pub(super) struct Stored {
    pub(super) checkpoint: Checkpoint,
    pub(super) invalidated: Option<u64>,
}

/// The job's row in the outbox; it is there exactly while `dispatchNeeded`.
pub(super) struct Offer {
    pub(super) due: Timestamp,
    pub(super) sequence: u64,
    /// It was not due yet when it came in.
    pub(super) scheduled: bool,
    pub(super) set_aside: Option<String>,
}

/// The stage of an ended attempt that may still have to be swept.
pub(super) struct StageNote {
    pub(super) attempt: AttemptId,
    pub(super) token: Token,
    pub(super) ended_at: Timestamp,
    pub(super) stopped: bool,
    pub(super) committed: bool,
    /// How many sweeps.
    pub(super) owed: u32,
}

/// One job.
pub(super) struct JobRow {
    law: Law,
    state: State,
    pub(super) revision: u64,
    pub(super) spec: JobSpec,
    pub(super) unreadable: bool,
    pub(super) retry_of: Option<JobId>,
    /// By token, from 1.
    pub(super) attempts: Vec<AttemptNote>,
    pub(super) offer: Offer,
    pub(super) checkpoint_revision: u64,
    pub(super) checkpoints: BTreeMap<u64, Stored>,
    pub(super) user: Option<UserProgress>,
    pub(super) losses: u32,
    pub(super) created_at: Timestamp,
    pub(super) due_at: Timestamp,
    pub(super) finished_at: Option<Timestamp>,
    /// The last `retry` that moved this very job.
    pub(super) retried: Option<(JobId, Retried)>,
    pub(super) result: Option<PublishedResult>,
    pub(super) stages: Vec<StageNote>,
}

impl JobRow {
    /// An accepted submission, in `Init`.
    pub(super) fn new(request: &Submit, now: Timestamp, due: Timestamp, sequence: u64) -> Self {
        let constants = Constants {
            max_attempts: u16::try_from(request.spec.max_attempts).unwrap_or(u16::MAX),
            max_progress: COMPLETE,
            ..Constants::ONE
        };
        Self {
            law: Law::of(Module::TwoStores, constants),
            state: State::initial(&constants),
            revision: 1,
            spec: request.spec.clone(),
            unreadable: false,
            retry_of: request.retry_of,
            attempts: Vec::new(),
            offer: Offer { due, sequence, scheduled: due > now, set_aside: None },
            checkpoint_revision: 0,
            checkpoints: BTreeMap::new(),
            user: None,
            losses: 0,
            created_at: now,
            due_at: due,
            finished_at: None,
            retried: None,
            result: None,
            stages: Vec::new(),
        }
    }

    /// The spec's variables of the job.
    pub(super) fn variables(&self) -> &Variables {
        &self.state[JOB]
    }

    pub(super) fn phase(&self) -> Phase {
        self.variables().phase
    }

    pub(super) fn terminal(&self) -> bool {
        self.state.terminal(JOB)
    }

    pub(super) fn token(&self) -> Token {
        Token(u32::from(self.variables().current_token))
    }

    pub(super) fn max_attempts(&self) -> u32 {
        u32::from(self.law.constants.max_attempts)
    }

    /// A permanent failure leaves no attempt after this one.
    pub(super) fn spend_budget(&mut self, token: Token) {
        self.law.constants.max_attempts =
            u16::try_from(token.0).unwrap_or(u16::MAX).min(self.law.constants.max_attempts);
    }

    /// Whether the job is offered, not set aside, and due.
    pub(super) fn dispatchable(&self, now: Timestamp) -> bool {
        self.variables().dispatch_needed && self.offer.set_aside.is_none() && self.offer.due <= now
    }

    /// The attempt that this id and token name, if it was ever claimed.
    pub(super) fn named(&self, attempt: AttemptId, token: Token) -> Option<Attempt> {
        let place = usize::try_from(token.0).ok()?.checked_sub(1)?;
        let known = self.attempts.get(place)?.attempt == attempt;
        known.then_some(Attempt { job: JOB, token: u16::try_from(token.0).ok()? })
    }

    pub(super) fn note(&self, of: Attempt) -> &AttemptNote {
        &self.attempts[usize::from(of.token) - 1]
    }

    pub(super) fn note_mut(&mut self, of: Attempt) -> &mut AttemptNote {
        &mut self.attempts[usize::from(of.token) - 1]
    }

    /// The attempt with authority.
    pub(super) fn authority(&self) -> Option<(AttemptId, &AttemptNote)> {
        let note = self.note(self.variables().authority?);
        Some((note.attempt, note))
    }

    /// The valid checkpoint's revision, whatever the phase; 0 for none.
    pub(super) fn valid_revision(&self) -> u64 {
        if self.variables().checkpoint_valid { self.checkpoint_revision } else { 0 }
    }

    pub(super) fn valid_checkpoint(&self) -> Option<&Checkpoint> {
        if self.terminal() {
            return None;
        }
        self.checkpoints.get(&self.valid_revision()).map(|stored| &stored.checkpoint)
    }

    /// The attempt's own count of sealed checkpoints, those inherited counted.
    pub(super) fn progress(&self, of: Attempt) -> u64 {
        u64::from(self.state[of].attempt_progress)
    }

    pub(super) fn resumed_from(&self, of: Attempt) -> u64 {
        u64::from(self.state[of].initial_progress)
    }

    /// What only the sender knows, and the guard sees, is as the request says.
    pub(super) fn knowing(&mut self, of: Attempt, change: impl FnOnce(&mut protocol::machine::AttemptRow)) {
        change(&mut self.state[of]);
    }

    pub(super) fn guard(&self, step: Move) -> Result<(), Guard> {
        step.room_guard(&self.law, &self.state)
    }

    /// The action's effect, at the revision that it makes.
    pub(super) fn take(&mut self, step: Move) -> u64 {
        step.apply(&self.law, &mut self.state);
        self.revision += 1;
        self.revision
    }

    /// An effect that is no step of the job: an outcome that was refused is no longer on its way.
    pub(super) fn settle(&mut self, step: Move) {
        step.apply(&self.law, &mut self.state);
    }

    pub(super) fn refuse<T>(&self, guard: Guard) -> Stamped<T> {
        Stamped::refused(mark(self.revision), guard)
    }

    /// What a terminal phase brings with it.
    pub(super) fn end_job(&mut self, now: Timestamp) {
        self.finished_at = Some(now);
        self.stages.iter_mut().for_each(|stage| stage.owed += 1);
        for stored in self.checkpoints.values_mut() {
            stored.checkpoint.state = Document::empty();
            stored.checkpoint.manifest = Document::empty();
        }
    }
}
