//! What the fresh reads take and give.

use protocol::{AttemptId, Incarnation, JobId, Mark, Phase, Position, Timestamp, Token, Window};
use serde::{Deserialize, Serialize};

use super::Document;

/// `DispatchRead` of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchRead {
    /// The window.
    pub window: Window,
    /// Only rows at or after this position.
    pub from: Position,
    /// At most so many.
    pub limit: usize,
}

/// A job that may be enqueued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatchable {
    /// The job.
    pub job: JobId,
    /// Its window.
    pub window: Window,
    /// Its place in it.
    pub position: Position,
    /// The revision of its valid checkpoint; 0 for none.
    pub checkpoint_revision: u64,
    /// The job's mark at the read.
    pub mark: Mark,
}

/// When the store's clock next makes something due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextDue {
    /// The store's clock at the read.
    pub now: Timestamp,
    /// The earliest due time after it.
    pub at: Option<Timestamp>,
}

/// An attempt with authority: a row of `running`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningAttempt {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// The worker that claimed it.
    pub worker: Incarnation,
    /// The pool's epoch when it was claimed.
    pub epoch: u64,
    /// `running` or `cancelling`.
    pub phase: Phase,
    /// Since when it is cancelling, on the store's clock.
    pub cancel_requested_at: Option<Timestamp>,
    /// The store's clock at the read.
    pub now: Timestamp,
    /// The job's mark at the read.
    pub mark: Mark,
}

/// An attempt of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AttemptOf {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
}

/// Whether an attempt has authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorityRead {
    /// `CurrentAuthority(a)`.
    pub holds: bool,
    /// The job's phase; `None` for a stranger.
    pub phase: Option<Phase>,
    /// The job's mark at the read.
    pub mark: Mark,
}

/// A job's phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRead {
    /// The phase.
    pub phase: Phase,
    /// The attempt with authority, if any.
    pub attempt: Option<AttemptId>,
    /// The job's mark at the read.
    pub mark: Mark,
}

/// An ended attempt whose stage is due for a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepStage {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// How long ago its authority ended, by the store's clock, in milliseconds.
    pub ended_ms_ago: u64,
    /// Whether the attempt itself reported its end, so that its process is known to be gone.
    pub stopped: bool,
    /// Whether its result is the job's.
    pub committed: bool,
    /// Whether the job is terminal.
    pub terminal: bool,
    /// Manifests and stored documents that must be kept: the valid checkpoint's state and manifest, those
    /// inherited by attempts with authority, the committed result's. A state in the row refers to nothing and is
    /// left out, so what is `Inline` here is a manifest. A job that ended without a result keeps nothing.
    pub keep: Vec<Document>,
}
