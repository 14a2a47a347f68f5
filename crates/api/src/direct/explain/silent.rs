//! A coordination room that gives no answer.

use async_trait::async_trait;
use coordination::{
    ActivateAttempt, Answer, At, CleanTerminal, Coordination, CoordinationReads, DroppedReservation, Enqueue,
    Enqueued, ExpiredLease, HandBack, Holdings, Lease, LiveProgress, PoolConfig, PoolState,
    PublishCancelNotice, ReapObserve, Registered, Registration, ReleaseLease, ReleaseReservation, RenewLease,
    Renewed, ReportProgress, Reserve, Reserved, RestoreLease, Wake, WindowState, WorkerView,
};
use protocol::{AttemptId, Fault, FaultKind, Incarnation, InstallationId, JobId, Stamped};
use tokio::sync::broadcast;

pub(super) struct Silent(broadcast::Sender<Wake>);

impl Default for Silent {
    fn default() -> Self {
        Self(broadcast::channel(1).0)
    }
}

fn gone<T>(doing: &str) -> Result<T, Fault> {
    Err(Fault::new(FaultKind::Unreachable, format!("read the {doing}")))
}

macro_rules! silent {
    ($room:ident $($name:ident($($arg:ident: $of:ty),*) -> $answer:ty;)* $(+ $($extra:tt)*)?) => {
        #[async_trait]
        impl $room for Silent {
            $(async fn $name(&self, $($arg: $of),*) -> $answer {
                $(let _ = $arg;)*
                gone(stringify!($name))
            })*
            $($($extra)*)?
        }
    };
}

silent! { Coordination
    enqueue(at: &At, batch: &[Enqueue]) -> Answer<Enqueued>;
    reserve(at: &At, request: &Reserve) -> Answer<Reserved>;
    claim_refused(at: &At, batch: &[HandBack]) -> Answer<()>;
    activate_attempt(at: &At, batch: &[ActivateAttempt]) -> Answer<Lease>;
    renew_lease(at: &At, batch: &[RenewLease]) -> Answer<Renewed>;
    renew_reservation(at: &At, batch: &[HandBack]) -> Answer<()>;
    expire_lease(at: &At, limit: usize) -> Answer<ExpiredLease>;
    drop_reservation(at: &At, limit: usize) -> Answer<DroppedReservation>;
    release_reservation(at: &At, batch: &[ReleaseReservation]) -> Answer<()>;
    release_lease(at: &At, batch: &[ReleaseLease]) -> Answer<()>;
    publish_cancel_notice(at: &At, batch: &[PublishCancelNotice]) -> Answer<()>;
    clean_terminal_coordination(at: &At, batch: &[CleanTerminal]) -> Answer<()>;
    report_progress(at: &At, batch: &[ReportProgress]) -> Answer<()>;
    restore_lease(at: &At, batch: &[RestoreLease]) -> Answer<Lease>;
    reap_observe(at: &At, batch: &[ReapObserve]) -> Answer<()>;
    settle(at: &At, attempts: &[AttemptId]) -> Answer<()>;
    register(at: &At, registration: &Registration) -> Result<Stamped<Registered>, Fault>;
    deregister(at: &At, worker: Incarnation) -> Result<(), Fault>;
    request_drain(at: &At, worker: Incarnation) -> Result<Stamped<bool>, Fault>;
    configure(at: &At, config: &PoolConfig) -> Result<Stamped<()>, Fault>;
    install_epoch(epoch: u64, installation: InstallationId) -> Result<PoolState, Fault>;
    account(at: &At, attempts: &[AttemptId]) -> Result<Stamped<()>, Fault>;
    open_epoch(at: &At) -> Result<Stamped<()>, Fault>;
    nudge(jobs: &[JobId]) -> Result<(), Fault>;
    + fn wakes(&self) -> broadcast::Receiver<Wake> { self.0.subscribe() }
}

silent! { CoordinationReads
    pool() -> Result<PoolState, Fault>;
    windows() -> Result<Vec<WindowState>, Fault>;
    workers() -> Result<Vec<WorkerView>, Fault>;
    holdings(after: Option<JobId>, limit: usize) -> Result<Holdings, Fault>;
    progress(jobs: &[JobId]) -> Result<Vec<Option<LiveProgress>>, Fault>;
}
