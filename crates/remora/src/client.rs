//! A client of a data folder's owner, or of an installation's rooms.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use coordination::{CoordinationRoom, Wake};
use durable::{
    CancelRequested, Configure, DurableRoom, JobView, PoolRow, RequestCancel, Retried, Retry, Submit,
    Submitted,
};
use protocol::{Fault, FaultKind, Guard, JobId, JobSpec, Reason, Stamped, Step, Violation};
use runtime::{Caller, Runtime};
use thiserror::Error;
use tokio::sync::broadcast;
use wire::client::{ClientOptions, ConnectError, ControlClient, CoordinationClient, DurableClient};
use worker::Rooms;

/// Looked at anyway after this time: wake-ups are hints.
const LOOK: Duration = Duration::from_secs(1);

/// Why a request was not done.
#[derive(Debug, Error)]
pub enum ClientError {
    /// A field is wrong.
    #[error(transparent)]
    Invalid(#[from] Violation),
    /// The store gave no answer.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// There is no such job.
    #[error("there is no job {0}")]
    NoSuchJob(JobId),
    /// The action was refused.
    #[error("refused: {0}")]
    Refused(Guard),
    /// The row was set aside.
    #[error("set aside: {0}")]
    SetAside(Reason),
    /// The owner refused.
    #[error("{0}")]
    Owner(String),
}

/// A way to the rooms: through the owner of a data folder, or straight to those of an installation.
#[derive(Clone)]
pub struct Client {
    durable: Arc<dyn DurableRoom>,
    coordination: Arc<dyn CoordinationRoom>,
    owner: Option<Owner>,
    runtime: Runtime,
    caller: Caller,
}

#[derive(Clone)]
struct Owner {
    link: Arc<DurableClient>,
    control: ControlClient,
}

/// What a store answered to a request about one job.
///
/// # Errors
/// When it refused, set the row aside, or knows no such job.
pub fn answer_about<T>(job: JobId, answers: Vec<Stamped<T>>) -> Result<T, ClientError> {
    match answers.into_iter().next().map(|answer| answer.step) {
        Some(Step::Taken(effect)) => Ok(effect),
        Some(Step::Refused(Guard::JobExists)) => Err(ClientError::NoSuchJob(job)),
        Some(Step::Refused(guard)) => Err(ClientError::Refused(guard)),
        Some(Step::SetAside(reason)) => Err(ClientError::SetAside(reason)),
        None => Err(Fault::new(FaultKind::Corrupt, "read the answer to one job").into()),
    }
}

impl Client {
    /// Connects to the folder's owner.
    ///
    /// # Errors
    /// When there is none, or it is of another version.
    pub async fn connect(folder: impl Into<PathBuf>, who: &str) -> Result<Self, ConnectError> {
        let options = ClientOptions::new(folder, who);
        let runtime = Runtime::system();
        let (durable, coordination, control) = tokio::join!(
            DurableClient::connect(options.clone()),
            CoordinationClient::connect(options.clone()),
            ControlClient::connect(options),
        );
        let link = Arc::new(durable?);
        Ok(Self {
            durable: Arc::clone(&link) as Arc<dyn DurableRoom>,
            coordination: Arc::new(coordination?),
            owner: Some(Owner { link, control: control? }),
            caller: Caller::new(runtime.new_actor_id()),
            runtime,
        })
    }

    /// A client of the rooms themselves.
    #[must_use]
    pub fn of(rooms: &Rooms) -> Self {
        let runtime = Runtime::system();
        Self {
            durable: Arc::clone(&rooms.durable),
            coordination: Arc::clone(&rooms.coordination),
            owner: None,
            caller: Caller::new(runtime.new_actor_id()),
            runtime,
        }
    }

    /// The durable room.
    #[must_use]
    pub fn durable(&self) -> Arc<dyn DurableRoom> {
        Arc::clone(&self.durable)
    }

    /// The coordination room.
    #[must_use]
    pub fn coordination(&self) -> Arc<dyn CoordinationRoom> {
        Arc::clone(&self.coordination)
    }

    /// Ends when the owner has closed the connection; never without an owner.
    pub async fn closed(&self) {
        match &self.owner {
            Some(owner) => owner.link.closed().await,
            None => std::future::pending().await,
        }
    }

    /// Asks the owner something that is no room's business.
    ///
    /// # Errors
    /// When it refuses or gives no answer, or there is none.
    pub async fn ask_owner(&self, request: &str) -> Result<String, ClientError> {
        let Some(owner) = &self.owner else {
            return Err(ClientError::Owner("only a data folder has an owner to ask".to_owned()));
        };
        owner.control.ask(request).await?.map_err(ClientError::Owner)
    }

    /// Accepts one job.
    ///
    /// # Errors
    /// When a field is wrong, the idempotency key stands for another request, or the store is away.
    pub async fn submit(&self, spec: JobSpec) -> Result<Submitted, ClientError> {
        spec.validate()?;
        let job = self.runtime.new_job_id();
        let sent = self.caller.send();
        let submit = Submit { job, spec, retry_of: None };
        let submitted = answer_about(job, sent.of(self.durable.submit(&sent.origin, &[submit])).await?)?;
        self.nudge(submitted.job).await;
        Ok(submitted)
    }

    /// Asks for a job's cancel. From the answer on nothing of it will be published.
    ///
    /// # Errors
    /// Refused `cancellable` when it has ended already.
    pub async fn cancel(&self, job: JobId) -> Result<CancelRequested, ClientError> {
        let sent = self.caller.send();
        let batch = [RequestCancel { job }];
        let answers = sent.of(self.durable.request_cancel(&sent.origin, &batch)).await?;
        let cancelled = answer_about(job, answers)?;
        self.nudge(job).await;
        Ok(cancelled)
    }

    /// Retries a job: due now, or a new job after its end.
    ///
    /// # Errors
    /// Refused when it is under way or has succeeded.
    pub async fn retry(&self, job: JobId) -> Result<Retried, ClientError> {
        let sent = self.caller.send();
        let retry = Retry { job, new_job: self.runtime.new_job_id() };
        let retried = answer_about(job, sent.of(self.durable.retry(&sent.origin, &[retry])).await?)?;
        self.nudge(match retried {
            Retried::NewJob(new) => new,
            Retried::DueNow | Retried::Offered => job,
        })
        .await;
        Ok(retried)
    }

    /// Changes limits, pauses or the lease length. From the answer on nothing is reserved under the old ones.
    ///
    /// # Errors
    /// When a value is out of range or a store is away.
    pub async fn configure(&self, change: &Configure) -> Result<PoolRow, ClientError> {
        let (durable, coordination) = (self.durable.as_ref(), self.coordination.as_ref());
        Ok(api::configure(&self.caller, durable, Some(coordination), change).await?)
    }

    async fn nudge(&self, job: JobId) {
        // A hint: the agents look anyway.
        let _ = self.coordination.nudge(&[job]).await;
    }

    /// Calls `look` with the job now and whenever something of it may have changed, until it says to end.
    ///
    /// # Errors
    /// When there is no such job or the store is away.
    pub async fn watch<T>(
        &self,
        job: JobId,
        mut look: impl FnMut(&JobView, Option<coordination::LiveProgress>) -> Option<T>,
    ) -> Result<T, ClientError> {
        let mut wakes = self.coordination.wakes();
        loop {
            let view = self.durable.job(job).await?.ok_or(ClientError::NoSuchJob(job))?;
            let live =
                self.coordination.progress(&[job]).await.ok().and_then(|mut live| live.pop().flatten());
            if let Some(end) = look(&view, live) {
                return Ok(end);
            }
            let woken = async {
                loop {
                    match wakes.recv().await {
                        Ok(Wake::Nudged(jobs)) if jobs.contains(&job) => return,
                        Ok(Wake::Progress(changed) | Wake::CancelNotice(changed)) if changed == job => return,
                        Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                        Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
                    }
                }
            };
            // Either way the next look tells.
            let _ = tokio::time::timeout(LOOK, woken).await;
        }
    }

    /// The pool's row.
    ///
    /// # Errors
    /// When the store is away.
    pub async fn pool(&self) -> Result<PoolRow, ClientError> {
        Ok(self.durable.pool().await?)
    }

    /// The number of the next request, for requests made on the rooms directly.
    #[must_use]
    pub fn send(&self) -> runtime::Sent {
        self.caller.send()
    }

    /// Workers as they registered.
    ///
    /// # Errors
    /// When coordination is away.
    pub async fn workers(&self) -> Result<Vec<coordination::WorkerView>, ClientError> {
        Ok(self.coordination.workers().await?)
    }
}
