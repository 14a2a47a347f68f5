//! The ports' methods, once. `client` makes adapters of these lists, `server` the dispatch.
//!
//! Promises: a port's method that is missing here does not compile in `client`; one that is not the port's
//! does not compile either. Methods go over the wire by name, arguments as a tuple.

use serde::de::DeserializeOwned;

/// A port's argument: what is decoded on the serving side, and how it is lent to the room.
pub(crate) trait Argument<'a>: Sized {
    /// What the bytes become.
    type Owned: DeserializeOwned + Send;

    /// What the room is handed.
    fn lend(owned: &'a Self::Owned) -> Self;
}

impl<'a, T> Argument<'a> for &'a T
where
    T: ToOwned + ?Sized,
    T::Owned: DeserializeOwned + Send,
{
    type Owned = T::Owned;

    fn lend(owned: &'a T::Owned) -> Self {
        std::borrow::Borrow::borrow(owned)
    }
}

macro_rules! by_value {
    ($($argument:ty),*) => {$(
        impl<'a> Argument<'a> for $argument {
            type Owned = Self;

            fn lend(owned: &'a Self) -> Self {
                *owned
            }
        }
    )*};
}

by_value!(
    u64,
    usize,
    protocol::JobId,
    protocol::Incarnation,
    protocol::Timestamp,
    protocol::InstallationId,
    protocol::TargetId,
    Option<protocol::JobId>,
    Option<protocol::AttemptId>,
    Option<u64>
);

/// Hands the methods of `durable::Durable` to the macro `$with`.
#[doc(hidden)]
#[macro_export]
macro_rules! durable_actions {
    ($with:ident $context:tt) => {
        $with! { $context Durable {
            submit(origin: &Origin, batch: &[Submit]) -> Vec<Stamped<Submitted>>;
            authorize_attempt(origin: &Origin, batch: &[AuthorizeAttempt]) -> Vec<Stamped<Authorized>>;
            persist_checkpoint(origin: &Origin, batch: &[PersistCheckpoint]) -> Vec<Stamped<Persisted>>;
            accept_success(origin: &Origin, batch: &[AcceptSuccess]) -> Vec<Stamped<Ended>>;
            accept_failure(origin: &Origin, batch: &[AcceptFailure]) -> Vec<Stamped<Ended>>;
            reap_lost_attempt(origin: &Origin, batch: &[ReapLostAttempt]) -> Vec<Stamped<Ended>>;
            schedule_retry(origin: &Origin, batch: &[ScheduleRetry]) -> Vec<Stamped<Scheduled>>;
            request_cancel(origin: &Origin, batch: &[RequestCancel]) -> Vec<Stamped<CancelRequested>>;
            finalize_cancel(origin: &Origin, batch: &[FinalizeCancel]) -> Vec<Stamped<Ended>>;
            invalidate_checkpoint(origin: &Origin, batch: &[InvalidateCheckpoint]) -> Vec<Stamped<Invalidated>>;
            retry(origin: &Origin, batch: &[Retry]) -> Vec<Stamped<Retried>>;
            stages_swept(origin: &Origin, batch: &[StageSwept]) -> ();
            raise_epoch(origin: &Origin, change: &RaiseEpoch) -> Stamped<PoolRow>;
            open_epoch(origin: &Origin, epoch: u64) -> Stamped<PoolRow>;
            configure(origin: &Origin, change: &Configure) -> PoolRow;
            adopt_target(origin: &Origin, target: protocol::TargetId) -> protocol::TargetId;
        } }
    };
}

/// Hands the methods of `durable::DurableReads` to the macro `$with`.
#[doc(hidden)]
#[macro_export]
macro_rules! durable_reads {
    ($with:ident $context:tt) => {
        $with! { $context DurableReads {
            pool() -> PoolRow;
            waiting_windows() -> Vec<Window>;
            dispatch_read(read: &DispatchRead) -> Vec<Dispatchable>;
            dispatch_read_jobs(jobs: &[JobId]) -> Vec<Dispatchable>;
            due_retries(limit: usize) -> Vec<ScheduleRetry>;
            next_due() -> NextDue;
            running(after: Option<AttemptId>, limit: usize) -> Vec<RunningAttempt>;
            authority(attempts: &[AttemptOf]) -> Vec<AuthorityRead>;
            phases(jobs: &[JobId]) -> Vec<Option<PhaseRead>>;
            checkpoint(job: JobId) -> Option<Checkpoint>;
            stages_to_sweep(limit: usize) -> Vec<SweepStage>;
        } }
    };
}

/// Hands the methods of `durable::Listing` to the macro `$with`.
#[doc(hidden)]
#[macro_export]
macro_rules! durable_listing {
    ($with:ident $context:tt) => {
        $with! { $context Listing {
            list(filter: &JobFilter) -> JobPage;
            job(job: JobId) -> Option<JobView>;
            counts() -> Vec<PhaseCount>;
            oldest_waiting() -> Option<JobSummary>;
            ends(since: protocol::Timestamp) -> Vec<EndCount>;
            result(job: JobId) -> Option<PublishedResult>;
        } }
    };
}

/// Hands the methods of `durable::Access` to the macro `$with`.
#[doc(hidden)]
#[macro_export]
macro_rules! durable_access {
    ($with:ident $context:tt) => {
        $with! { $context Access {
            make_token(token: &NewToken) -> TokenMade;
            revoke_token(id: &str) -> bool;
            tokens() -> Tokens;
            tokens_used(ids: &[String]) -> ();
            add_to_trail(entries: &[TrailEntry]) -> ();
            trail(before: Option<u64>, limit: usize) -> Vec<TrailRow>;
        } }
    };
}

/// Hands the methods of `coordination::Coordination` to the macro `$with`, all but `wakes`.
#[doc(hidden)]
#[macro_export]
macro_rules! coordination_actions {
    ($with:ident $context:tt) => {
        $with! { $context Coordination {
            enqueue(at: &At, batch: &[Enqueue]) -> Vec<Stamped<Enqueued>>;
            reserve(at: &At, request: &Reserve) -> Vec<Stamped<Reserved>>;
            claim_refused(at: &At, batch: &[HandBack]) -> Vec<Stamped<()>>;
            activate_attempt(at: &At, batch: &[ActivateAttempt]) -> Vec<Stamped<Lease>>;
            renew_lease(at: &At, batch: &[RenewLease]) -> Vec<Stamped<Renewed>>;
            renew_reservation(at: &At, batch: &[HandBack]) -> Vec<Stamped<()>>;
            expire_lease(at: &At, limit: usize) -> Vec<Stamped<ExpiredLease>>;
            drop_reservation(at: &At, limit: usize) -> Vec<Stamped<DroppedReservation>>;
            release_reservation(at: &At, batch: &[ReleaseReservation]) -> Vec<Stamped<()>>;
            release_lease(at: &At, batch: &[ReleaseLease]) -> Vec<Stamped<()>>;
            publish_cancel_notice(at: &At, batch: &[PublishCancelNotice]) -> Vec<Stamped<()>>;
            clean_terminal_coordination(at: &At, batch: &[CleanTerminal]) -> Vec<Stamped<()>>;
            report_progress(at: &At, batch: &[ReportProgress]) -> Vec<Stamped<()>>;
            restore_lease(at: &At, batch: &[RestoreLease]) -> Vec<Stamped<Lease>>;
            reap_observe(at: &At, batch: &[ReapObserve]) -> Vec<Stamped<()>>;
            settle(at: &At, attempts: &[AttemptId]) -> Vec<Stamped<()>>;
            register(at: &At, registration: &Registration) -> Stamped<Registered>;
            deregister(at: &At, worker: Incarnation) -> ();
            request_drain(at: &At, worker: Incarnation) -> Stamped<bool>;
            configure(at: &At, config: &PoolConfig) -> Stamped<()>;
            install_epoch(epoch: u64, installation: protocol::InstallationId) -> PoolState;
            account(at: &At, attempts: &[AttemptId]) -> Stamped<()>;
            open_epoch(at: &At) -> Stamped<()>;
            nudge(jobs: &[JobId]) -> ();
        } }
    };
}

/// Hands the methods of `coordination::CoordinationReads` to the macro `$with`.
#[doc(hidden)]
#[macro_export]
macro_rules! coordination_reads {
    ($with:ident $context:tt) => {
        $with! { $context CoordinationReads {
            pool() -> PoolState;
            windows() -> Vec<WindowState>;
            workers() -> Vec<WorkerView>;
            holdings(after: Option<JobId>, limit: usize) -> Holdings;
            progress(jobs: &[JobId]) -> Vec<Option<LiveProgress>>;
        } }
    };
}

pub(crate) use {
    coordination_actions, coordination_reads, durable_access, durable_actions, durable_listing, durable_reads,
};
