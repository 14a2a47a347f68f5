//! Requests and effects of the coordination actions.

use protocol::{
    AttemptId, Incarnation, JobId, Judged, Origin, Position, ReservationId, Token, UserProgress, Window,
};
use serde::{Deserialize, Serialize};

/// Who asks, and which epoch it believes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct At {
    /// The sender and its count.
    pub origin: Origin,
    /// The epoch it believes in.
    pub epoch: u64,
}

/// `Enqueue`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enqueue {
    /// The job.
    pub job: JobId,
    /// Its window.
    pub window: Window,
    /// Its place in it.
    pub position: Position,
    /// The revision of its checkpoint; 0 for none.
    pub checkpoint_revision: u64,
    /// The job's mark at the read it rests on.
    pub judged: Vec<Judged>,
}

/// An entry that is in its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enqueued {
    /// Entries in that window now.
    pub entries: usize,
}

/// `Reserve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    /// The worker, which has that many free slots of its own.
    pub worker: Incarnation,
    /// An id for each place wanted, made by the worker.
    pub reservations: Vec<ReservationId>,
    /// At most [`protocol::limit::RESERVE_WINDOWS`] windows.
    pub windows: Vec<Window>,
}

/// A place and the job it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserved {
    /// The reservation.
    pub reservation: ReservationId,
    /// The job.
    pub job: JobId,
    /// The window it came from.
    pub window: Window,
    /// The revision of its checkpoint when it was enqueued; 0 for none.
    pub checkpoint_revision: u64,
    /// The lease length in force, in milliseconds; the reservation lives as long unless renewed.
    pub lease_ms: u64,
}

/// A reservation given back (`ClaimRefused`) or renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandBack {
    /// The job.
    pub job: JobId,
    /// The exact reservation.
    pub reservation: ReservationId,
    /// Its holder.
    pub worker: Incarnation,
}

/// `ActivateAttempt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivateAttempt {
    /// The job.
    pub job: JobId,
    /// The attempt that was authorized.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// The reservation it turns into a lease.
    pub reservation: ReservationId,
    /// The worker.
    pub worker: Incarnation,
    /// The claim's mark.
    pub judged: Vec<Judged>,
}

/// A live lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Its length from the moment the request was *sent*, in milliseconds.
    pub lease_ms: u64,
}

/// `RenewLease`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenewLease {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// The incarnation that holds it.
    pub worker: Incarnation,
}

/// A lease that is young again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewed {
    /// Its length in force, in milliseconds.
    pub lease_ms: u64,
    /// Whether a cancel notice stands for the job.
    pub cancel_notice: bool,
}

/// A lease that ended by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpiredLease {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Who held it.
    pub worker: Incarnation,
}

/// A reservation that ended by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedReservation {
    /// The job.
    pub job: JobId,
    /// The reservation.
    pub reservation: ReservationId,
    /// Who held it.
    pub worker: Incarnation,
}

/// `ReleaseReservation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseReservation {
    /// The job.
    pub job: JobId,
    /// The exact reservation judged.
    pub reservation: ReservationId,
    /// The job's mark at the read it rests on.
    pub judged: Vec<Judged>,
}

/// `ReleaseLease`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseLease {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// The job's mark at which its authority was seen to be gone.
    pub judged: Vec<Judged>,
}

/// `PublishCancelNotice`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishCancelNotice {
    /// The job.
    pub job: JobId,
    /// The attempt to be told.
    pub attempt: AttemptId,
    /// The job's mark at which the cancel was seen.
    pub judged: Vec<Judged>,
}

/// `CleanTerminalCoordination`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanTerminal {
    /// The job.
    pub job: JobId,
    /// The job's mark at which it was seen to be terminal.
    pub judged: Vec<Judged>,
}

/// `ReportProgress`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportProgress {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// The incarnation that holds its lease.
    pub worker: Incarnation,
    /// What to show.
    pub progress: UserProgress,
    /// The job's mark at the last answer that proved authority.
    pub judged: Vec<Judged>,
}

/// `RestoreLease`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreLease {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// The incarnation that executes it.
    pub worker: Incarnation,
    /// The job's mark at which authority was read.
    pub judged: Vec<Judged>,
}

/// `ReapObserve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReapObserve {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: AttemptId,
    /// The worker that claimed it.
    pub worker: Incarnation,
    /// The epoch of the claim.
    pub claimed_epoch: u64,
    /// Whether its own worker asks, which knows that it does not execute (rule 2).
    pub by_holder: bool,
}
