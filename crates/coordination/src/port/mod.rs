//! The port: one method per action, over batches, and what agents read.

mod actions;
mod pool;
mod reads;

use async_trait::async_trait;
use protocol::{Fault, InstallationId, Stamped};
use tokio::sync::broadcast;

pub use actions::*;
pub use pool::*;
pub use reads::*;

/// Answers to a batch, in its order, or no answer at all.
pub type Answer<T> = Result<Vec<Stamped<T>>, Fault>;

/// The actions of the coordination room.
///
/// Each request names the epoch its sender believes in; another epoch is refused as `stale`, whole. The
/// room's own clock ages leases and reservations. Every request may be sent again with the same ids.
#[async_trait]
pub trait Coordination: Send + Sync {
    /// `Enqueue`. Refused: `stale`, `not_queued`, `not_reserved`, `lease_not_live` (the job has a live
    /// lease), `window_registered`, `window_full`. Allowed while opening.
    async fn enqueue(&self, at: &At, batch: &[Enqueue]) -> Answer<Enqueued>;

    /// `Reserve`: one answer per reservation id asked for. Takes the entry with the lowest (priority,
    /// position) over the windows named. Refused: `stale`, `opening`, `global_limit`, `queue_paused` (all
    /// that is left is paused), `queued` (nothing is), `reservation_held` (a reservation of this id has ended or
    /// is another worker's). The same reservation id again gives the same entry.
    async fn reserve(&self, at: &At, request: &Reserve) -> Answer<Reserved>;

    /// `ClaimRefused`: hands a reservation back. Refused: `stale`, `reservation_held`.
    async fn claim_refused(&self, at: &At, batch: &[HandBack]) -> Answer<()>;

    /// `ActivateAttempt`: the exact reservation becomes a lease. Refused: `stale`, `reservation_held`. The
    /// same attempt again, its lease live, is `Taken`.
    async fn activate_attempt(&self, at: &At, batch: &[ActivateAttempt]) -> Answer<Lease>;

    /// `RenewLease`. Refused: `stale`, `lease_live`.
    async fn renew_lease(&self, at: &At, batch: &[RenewLease]) -> Answer<Renewed>;

    /// Renews the deadline of reservations not yet activated. Refused: `stale`, `reservation_held`.
    async fn renew_reservation(&self, at: &At, batch: &[HandBack]) -> Answer<()>;

    /// `ExpireLease` for leases past their length, at most `limit`. Stale: one refusal.
    async fn expire_lease(&self, at: &At, limit: usize) -> Answer<ExpiredLease>;

    /// `FalseSuspicion` for reservations past their deadline, at most `limit`. Stale: one refusal.
    async fn drop_reservation(&self, at: &At, limit: usize) -> Answer<DroppedReservation>;

    /// `ReleaseReservation`. Compares the exact reservation judged. Refused: `stale`, `reservation_held`.
    async fn release_reservation(&self, at: &At, batch: &[ReleaseReservation]) -> Answer<()>;

    /// `ReleaseLease`. A second release does nothing. Refused: `stale`, `lease_live`.
    async fn release_lease(&self, at: &At, batch: &[ReleaseLease]) -> Answer<()>;

    /// `PublishCancelNotice`. Refused: `stale`, `not_noticed`.
    async fn publish_cancel_notice(&self, at: &At, batch: &[PublishCancelNotice]) -> Answer<()>;

    /// `CleanTerminalCoordination`: removes entry, reservation, notice and progress of terminal jobs, and
    /// leaves a lease alone. Refused: `stale`, `something_to_clean`.
    async fn clean_terminal_coordination(&self, at: &At, batch: &[CleanTerminal]) -> Answer<()>;

    /// `ReportProgress`. Refused: `stale`, `lease_live`, `progress_changed`.
    async fn report_progress(&self, at: &At, batch: &[ReportProgress]) -> Answer<()>;

    /// `RestoreLease`, inside the grace. Refused: `stale`, `grace_over`, `lease_ended_by_age`, `authority`
    /// (its end was seen in this epoch), `global_limit` (one that is not in `unaccounted` needs a free place),
    /// `lease_live` (another incarnation holds it). Live already is `Taken`, and young again. Allowed while
    /// opening.
    async fn restore_lease(&self, at: &At, batch: &[RestoreLease]) -> Answer<Lease>;

    /// `ReapObserve`. Refused: `stale`, `opening`, `grace` (an attempt of an older epoch, unless its own
    /// worker asks), `lease_not_live`, `reservation_not_held`.
    async fn reap_observe(&self, at: &At, batch: &[ReapObserve]) -> Answer<()>;

    /// An attempt's end: takes it out of `unaccounted`.
    async fn settle(&self, at: &At, attempts: &[protocol::AttemptId]) -> Answer<()>;

    /// Tells that a worker lives and what it serves; renewed every third of a lease, forgotten after two
    /// lease lengths. Answers the windows it serves that have entries.
    async fn register(&self, at: &At, registration: &Registration) -> Result<Stamped<Registered>, Fault>;

    /// Forgets a worker that ends.
    async fn deregister(&self, at: &At, worker: protocol::Incarnation) -> Result<(), Fault>;

    /// Asks a worker to drain: it hears of it in the answer to its next registration, which it then makes for as long as it
    /// lives. Answers whether the worker is known; one that is not is not asked. Forgotten with the worker, and by a loss.
    async fn request_drain(&self, at: &At, worker: protocol::Incarnation) -> Result<Stamped<bool>, Fault>;

    /// Copies limits, pauses and lease length into the pool; an older revision changes nothing.
    async fn configure(&self, at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault>;

    /// Rule 9: installs an epoch, opening, when the store's is lower, and claims the pool for this installation. Deletes
    /// the older epoch's state. The pool of another installation stays as it is, which the answer tells; an empty store
    /// is nobody's.
    async fn install_epoch(&self, epoch: u64, installation: InstallationId) -> Result<PoolState, Fault>;

    /// Rule 9: puts attempts into `unaccounted`, skipping those with a lease. Refused: `stale`, `opening`
    /// (the pool is open already).
    async fn account(&self, at: &At, attempts: &[protocol::AttemptId]) -> Result<Stamped<()>, Fault>;

    /// Rule 9: opens the pool. Open already is `Taken`. Refused: `stale`.
    async fn open_epoch(&self, at: &At) -> Result<Stamped<()>, Fault>;

    /// A hint that the durable rows of these jobs changed: wakes dispatcher, canceller and watchers.
    async fn nudge(&self, jobs: &[protocol::JobId]) -> Result<(), Fault>;

    /// Wake-ups from now on. Hints only: they may be lost, so whoever waits also looks now and then.
    fn wakes(&self) -> broadcast::Receiver<Wake>;
}

/// Reads of the room. An answer is an answer; silence decides nothing (rule 3).
#[async_trait]
pub trait CoordinationReads: Send + Sync {
    /// Epoch, limits and what is in use. Epoch 0 when the store is empty.
    async fn pool(&self) -> Result<PoolState, Fault>;

    /// Windows that live workers have registered for, with the entries each holds.
    async fn windows(&self) -> Result<Vec<WindowState>, Fault>;

    /// What workers have registered: which queues (all when `None`) and kinds someone serves.
    async fn workers(&self) -> Result<Vec<WorkerView>, Fault>;

    /// Leases, reservations, notices and progress, job by job, after one.
    async fn holdings(&self, after: Option<protocol::JobId>, limit: usize) -> Result<Holdings, Fault>;

    /// The progress shown of each job.
    async fn progress(&self, jobs: &[protocol::JobId]) -> Result<Vec<Option<LiveProgress>>, Fault>;
}

/// Everything that an adapter of the room is.
pub trait CoordinationRoom: Coordination + CoordinationReads {}

impl<T: Coordination + CoordinationReads + ?Sized> CoordinationRoom for T {}
