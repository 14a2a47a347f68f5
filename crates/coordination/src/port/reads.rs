//! What agents and people read of coordination.

use protocol::{AttemptId, Incarnation, JobId, Mark, ReservationId, Token, UserProgress, Window};
use serde::{Deserialize, Serialize};

use super::Registration;

/// A window with entries or registrations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowState {
    /// The window.
    pub window: Window,
    /// Its entries.
    pub entries: usize,
}

/// A registered worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerView {
    /// What it said.
    pub registration: Registration,
    /// How long ago it last said so, in milliseconds.
    pub seen_ms_ago: u64,
    /// The attempts whose leases it holds.
    pub attempts: Vec<HeldLease>,
}

/// A live lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldLease {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// The worker.
    pub worker: Incarnation,
    /// Its age in milliseconds.
    pub age_ms: u64,
}

/// Everything but its queue entry that the room holds of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// The job.
    pub job: JobId,
    /// Its live leases (a zombie's may stand beside the current one's).
    pub leases: Vec<HeldLease>,
    /// Its reservation and the holder.
    pub reservation: Option<(ReservationId, Incarnation)>,
    /// Whether a cancel notice stands.
    pub notice: bool,
    /// Whether progress is shown.
    pub progress: bool,
}

/// A page of holdings, in the order of job ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holdings {
    /// Epoch and revision at the read.
    pub mark: Mark,
    /// The page.
    pub jobs: Vec<Holding>,
    /// Whether there are more.
    pub more: bool,
}

/// Progress shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveProgress {
    /// By which attempt.
    pub attempt: AttemptId,
    /// What it said.
    pub progress: UserProgress,
}
