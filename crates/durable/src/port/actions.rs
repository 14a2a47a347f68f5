//! Requests and effects of the durable actions, one pair each.

use protocol::{
    AttemptId, FailureCause, Incarnation, JobId, JobSpec, Judged, Phase, ReservationId, Timestamp, Token,
    UserProgress,
};
use serde::{Deserialize, Serialize};

use super::{Checkpoint, Document, ProgramExit, ResultRecord};

/// A job to accept. The caller has validated the spec; the room validates it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submit {
    /// Its id, made by the caller: the same id again is the same request.
    pub job: JobId,
    /// What it asks for.
    pub spec: JobSpec,
    /// The job that this one repeats.
    pub retry_of: Option<JobId>,
}

/// An accepted job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// The new job, or the earlier one with this idempotency key.
    pub job: JobId,
    /// Whether it was there before.
    pub existed: bool,
    /// Its phase.
    pub phase: Phase,
}

/// `AuthorizeAttempt`: claims the job's next attempt for a worker that holds a reservation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizeAttempt {
    /// The job.
    pub job: JobId,
    /// The new attempt's id, made by the worker.
    pub attempt: AttemptId,
    /// The worker.
    pub worker: Incarnation,
    /// The reservation it rests on.
    pub reservation: ReservationId,
    /// The pool's epoch in which it was given.
    pub epoch: u64,
    /// The revision of the checkpoint that the worker has verified; 0 for none.
    pub checkpoint_revision: u64,
    /// The reservation's mark.
    pub judged: Vec<Judged>,
}

/// What a claim gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authorized {
    /// The attempt's fencing token.
    pub token: Token,
    /// What to run.
    pub spec: JobSpec,
    /// What to resume from.
    pub checkpoint: Option<Checkpoint>,
}

/// `PersistCheckpoint`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistCheckpoint {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// The spec's progress: above 0 and above the checkpoint stored. The same number of the same attempt
    /// again is the same request.
    pub progress: u64,
    /// The job's own progress.
    pub user: UserProgress,
    /// What the job needs to resume.
    pub state: Document,
    /// The manifest of the output so far, sealed and verified before.
    pub manifest: Document,
}

/// A checkpoint that is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persisted {
    /// Its revision.
    pub checkpoint_revision: u64,
}

/// `AcceptSuccess`: publishes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptSuccess {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// The complete result, laid out on the target before.
    pub result: ResultRecord,
}

/// `AcceptFailure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptFailure {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// Why. `Permanent` lowers the job's `max_attempts` to this token in the same statement. Never `Lost`.
    pub cause: FailureCause,
    /// Text for people, free of NUL, at most [`protocol::limit::ERROR_BYTES`].
    pub error: String,
    /// How the program ended, where it was one.
    pub exit: Option<ProgramExit>,
    /// Chance for the retry delay: uniform over all of `u64`.
    pub chance: u64,
}

/// `ReapLostAttempt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReapLostAttempt {
    /// The job.
    pub job: JobId,
    /// The attempt that was judged lost.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// Text for people: which worker was lost, and how it was seen.
    pub error: String,
    /// Chance for the retry delay.
    pub chance: u64,
    /// The pool's mark at which it was judged.
    pub judged: Vec<Judged>,
}

/// Where a job stands after an attempt's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The job's phase now.
    pub phase: Phase,
    /// When its next attempt is due, in `retry_wait`.
    pub due: Option<Timestamp>,
}

/// `ScheduleRetry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleRetry {
    /// The job.
    pub job: JobId,
}

/// A job that is queued again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// The job.
    pub job: JobId,
}

/// `RequestCancel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCancel {
    /// The job.
    pub job: JobId,
}

/// A cancel that stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequested {
    /// `cancelling` while an attempt still has authority, else `cancelled`.
    pub phase: Phase,
    /// The attempt to be told, while cancelling.
    pub attempt: Option<AttemptId>,
}

/// `FinalizeCancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinalizeCancel {
    /// The job.
    pub job: JobId,
    /// The attempt that is known to have stopped (worker) or judged gone (canceller).
    pub attempt: AttemptId,
    /// The pool's mark at which the canceller judged; empty from the worker.
    pub judged: Vec<Judged>,
}

/// `InvalidateCheckpoint`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidateCheckpoint {
    /// The job.
    pub job: JobId,
    /// The revision that was judged bad.
    pub checkpoint_revision: u64,
    /// Text for people.
    pub reason: String,
}

/// A checkpoint that will not be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invalidated {
    /// Its revision.
    pub checkpoint_revision: u64,
}

/// The verb `retry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// The job.
    pub job: JobId,
    /// The id of the new job, should one be made.
    pub new_job: JobId,
}

/// What `retry` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Retried {
    /// The job was in `retry_wait` and is queued now.
    DueNow,
    /// The job was set aside and is offered again.
    Offered,
    /// A new job, `retry_of` the old one.
    NewJob(JobId),
}

/// What a sweep left of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageSwept {
    /// The job.
    pub job: JobId,
    /// The attempt whose stage was swept.
    pub attempt: AttemptId,
    /// Whether something was kept and the sweep must run again at the job's end. A sweep that was judged before the
    /// end and is reported after it is not the last; what is kept by one judged after it stays.
    pub kept: bool,
}
