//! The port: one method per action, over batches; fresh reads for agents and workers; reads for people.

mod access;
mod actions;
mod people;
mod pool;
mod reads;
mod records;

use async_trait::async_trait;
use protocol::{Fault, Origin, Stamped, TargetId, Timestamp};

pub use access::*;
pub use actions::*;
pub use people::*;
pub use pool::*;
pub use reads::*;
pub use records::*;

/// Answers to a batch, in its order, or no answer at all.
pub type Answer<T> = Result<Vec<Stamped<T>>, Fault>;

/// The actions of the durable room. Each decides its batch row by row: one bad row harms only itself.
///
/// Every request may be sent again after a [`protocol::FaultKind::Ambiguous`] fault and is then answered
/// as the first time, without a second effect.
#[async_trait]
pub trait Durable: Send + Sync {
    /// Accepts jobs. The job id makes the request repeatable; an idempotency key finds the earlier job.
    /// Refused: `same_request` when the key, or the id, stands for another request. Set aside: a submission that is
    /// wrong; the reason names field, value and limit.
    async fn submit(&self, origin: &Origin, batch: &[Submit]) -> Answer<Submitted>;

    /// `AuthorizeAttempt`, the claim. Refused: `job_exists`, `attempt_unused`, `not_set_aside`, `phase_queued`,
    /// `dispatch_needed`, `attempts_left`, `checkpoint_changed`; a repeated claim of a revoked attempt: `lost`.
    /// Set aside, and kept so with the reason: a row that cannot be decoded.
    async fn authorize_attempt(&self, origin: &Origin, batch: &[AuthorizeAttempt]) -> Answer<Authorized>;

    /// `PersistCheckpoint`. Refused: `authority`, `phase_running`, `progress_positive`, `checkpoint_advances`.
    async fn persist_checkpoint(&self, origin: &Origin, batch: &[PersistCheckpoint]) -> Answer<Persisted>;

    /// `AcceptSuccess`, or `RejectOutcome` when refused: `authority`, `phase_running`, `not_cancel_requested`.
    async fn accept_success(&self, origin: &Origin, batch: &[AcceptSuccess]) -> Answer<Ended>;

    /// `AcceptFailure`, or `RejectOutcome` when refused: `authority`, `phase_running`, `not_cancel_requested`.
    async fn accept_failure(&self, origin: &Origin, batch: &[AcceptFailure]) -> Answer<Ended>;

    /// `ReapLostAttempt`. Names the attempt that was judged. Refused: `authority`, `phase_running`.
    async fn reap_lost_attempt(&self, origin: &Origin, batch: &[ReapLostAttempt]) -> Answer<Ended>;

    /// `ScheduleRetry`. Refused: `phase_retry_wait`, `due`. A job that was scheduled and is still queued answers
    /// `Taken`, as the first time.
    async fn schedule_retry(&self, origin: &Origin, batch: &[ScheduleRetry]) -> Answer<Scheduled>;

    /// `RequestCancel`. Refused: `job_exists`, `cancellable` (terminal already). A job that is cancelling or
    /// cancelled answers `Taken` with that phase.
    async fn request_cancel(&self, origin: &Origin, batch: &[RequestCancel]) -> Answer<CancelRequested>;

    /// `FinalizeCancel`. Refused: `phase_cancelling`, `authority` (when it names another attempt).
    async fn finalize_cancel(&self, origin: &Origin, batch: &[FinalizeCancel]) -> Answer<Ended>;

    /// `InvalidateCheckpoint`. Refused: `not_terminal`, `checkpoint_valid`, `checkpoint_changed`.
    async fn invalidate_checkpoint(
        &self,
        origin: &Origin,
        batch: &[InvalidateCheckpoint],
    ) -> Answer<Invalidated>;

    /// The verb `retry`: `retry_wait` becomes due now, a row set aside is offered again, a failed or
    /// cancelled job gives a new job. Refused: `job_exists`, `terminal` (queued, running or cancelling),
    /// `cancellable` (succeeded), `same_request` (the new job's id stands for another job). The new job's id makes
    /// the request repeatable, also where no new job is made.
    async fn retry(&self, origin: &Origin, batch: &[Retry]) -> Answer<Retried>;

    /// Records what a sweep of ended attempts' stages left.
    async fn stages_swept(&self, origin: &Origin, batch: &[StageSwept]) -> Result<(), Fault>;

    /// Moves the pool's epoch from one number to a higher one, `opening`. Refused: `epoch_current`, also whoever asks
    /// for the move that another actor has made: an epoch is installed by the one that raised it. The same actor
    /// finds its move done.
    async fn raise_epoch(&self, origin: &Origin, change: &RaiseEpoch) -> Result<Stamped<PoolRow>, Fault>;

    /// Marks this epoch open. Refused: `epoch_current`. Already open is `Taken`.
    async fn open_epoch(&self, origin: &Origin, epoch: u64) -> Result<Stamped<PoolRow>, Fault>;

    /// Changes limits, pauses or the lease length and raises the configuration's revision; a change that changes
    /// nothing raises nothing. Out of range ([`Configure::validate`]): a fault, `Unreachable`, whose source is the
    /// [`protocol::Violation`].
    async fn configure(&self, origin: &Origin, change: &Configure) -> Result<PoolRow, Fault>;

    /// Remembers where this installation publishes, where it does not know yet; answers the target in force, which is
    /// the first that was named, for ever.
    async fn adopt_target(&self, origin: &Origin, target: TargetId) -> Result<TargetId, Fault>;
}

/// Reads that decisions rest on: never older than the caller's last answered write.
#[async_trait]
pub trait DurableReads: Send + Sync {
    /// The pool's epoch and configuration.
    async fn pool(&self) -> Result<PoolRow, Fault>;

    /// Windows that have rows in the outbox which are due and not set aside.
    async fn waiting_windows(&self) -> Result<Vec<protocol::Window>, Fault>;

    /// `DispatchRead`: due outbox rows of one window in order, from a position on.
    async fn dispatch_read(&self, read: &DispatchRead) -> Result<Vec<Dispatchable>, Fault>;

    /// `DispatchRead` of named jobs: those that are dispatchable now, with their windows.
    async fn dispatch_read_jobs(&self, jobs: &[protocol::JobId]) -> Result<Vec<Dispatchable>, Fault>;

    /// Jobs in `retry_wait` that are due.
    async fn due_retries(&self, limit: usize) -> Result<Vec<ScheduleRetry>, Fault>;

    /// The earliest moment at which a waiting retry or a scheduled job falls due, and the store's clock.
    async fn next_due(&self) -> Result<NextDue, Fault>;

    /// Attempts with authority, ordered by id, after one.
    async fn running(
        &self,
        after: Option<protocol::AttemptId>,
        limit: usize,
    ) -> Result<Vec<RunningAttempt>, Fault>;

    /// Whether each attempt has authority, and its job's phase.
    async fn authority(&self, attempts: &[AttemptOf]) -> Result<Vec<AuthorityRead>, Fault>;

    /// The phase of each job; `None` for a stranger.
    async fn phases(&self, jobs: &[protocol::JobId]) -> Result<Vec<Option<PhaseRead>>, Fault>;

    /// The job's valid checkpoint.
    async fn checkpoint(&self, job: protocol::JobId) -> Result<Option<Checkpoint>, Fault>;

    /// Ended attempts whose stage is due for a sweep, with everything that must be kept, in one snapshot. Those that
    /// have stopped come first, then by their end: whoever leaves out ends that are too young leaves out the last
    /// rows only, so nothing waits behind them.
    async fn stages_to_sweep(&self, limit: usize) -> Result<Vec<SweepStage>, Fault>;
}

/// Reads for people; may be a moment old.
#[async_trait]
pub trait Listing: Send + Sync {
    /// Jobs, newest first, after a cursor.
    async fn list(&self, filter: &JobFilter) -> Result<JobPage, Fault>;

    /// One job with its attempts.
    async fn job(&self, job: protocol::JobId) -> Result<Option<JobView>, Fault>;

    /// Jobs per queue and phase.
    async fn counts(&self) -> Result<Vec<PhaseCount>, Fault>;

    /// The due and queued job that was due first; rows set aside do not wait.
    async fn oldest_waiting(&self) -> Result<Option<JobSummary>, Fault>;

    /// Ends in the minutes that begin at or after a moment, in their order; minutes without ends are left out. Of more
    /// than 500,000 ends the oldest are left out.
    async fn ends(&self, since: Timestamp) -> Result<Vec<EndCount>, Fault>;

    /// The published result of a job, if there is one.
    async fn result(&self, job: protocol::JobId) -> Result<Option<PublishedResult>, Fault>;
}

/// Everything that an adapter of the room is.
pub trait DurableRoom: Durable + DurableReads + Listing + Access {}

impl<T: Durable + DurableReads + Listing + Access + ?Sized> DurableRoom for T {}
