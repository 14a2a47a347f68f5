//! The port: what can be asked, one method a verb.

use std::ops::Range;
use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::Stream;
use protocol::{Incarnation, JobId};

use crate::v1::{
    Cancelled, EventRecord, Inspection, Item, Job, JobDetail, JobQuery, Overview, Page, Pool, PoolChange,
    Problem, Queue, Readiness, ResultEntry, ResultSummary, Retried, RoomReport, Submission, Submitted, Why,
    Worker,
};

/// What was asked for, or why not.
pub type Answer<T> = Result<T, Problem>;

/// Bytes as they come.
pub type Bytestream = Pin<Box<dyn Stream<Item = Answer<Bytes>> + Send>>;

/// Events as they come. Ends when the job has ended, where it is of one job.
pub type Watching = Pin<Box<dyn Stream<Item = Answer<EventRecord>> + Send>>;

/// A file of a result, or a range of it.
pub struct FileBody {
    /// How long the whole file is, in bytes.
    pub length: u64,
    /// The bytes that follow: cut to the file.
    pub range: Range<u64>,
    /// BLAKE3 of the whole file, in hexadecimal digits; `None` where it is of several parts.
    pub digest: Option<String>,
    /// The bytes.
    pub bytes: Bytestream,
}

/// Everything that can be asked. Reads may be a moment old, except where a decision is made.
#[async_trait]
pub trait Api: Send + Sync {
    /// Jobs, newest first.
    async fn jobs(&self, query: &JobQuery) -> Answer<Page<Job>>;

    /// One job with its attempts.
    async fn job(&self, job: JobId) -> Answer<JobDetail>;

    /// Accepts jobs, each for itself, in the order given. At most [`protocol::limit::BATCH_JOBS`].
    async fn submit(&self, jobs: Vec<Submission>) -> Answer<Vec<Item<Submitted>>>;

    /// Asks for cancels. From an answer on nothing of that job will be published.
    async fn cancel(&self, jobs: &[JobId]) -> Answer<Vec<Item<Cancelled>>>;

    /// Retries jobs: waiting ones at once, ended ones as new jobs.
    async fn retry(&self, jobs: &[JobId]) -> Answer<Vec<Item<Retried>>>;

    /// What a job waits for, why its attempts ended, and what comes next.
    async fn why(&self, job: JobId) -> Answer<Why>;

    /// The three rooms side by side, with the spec's invariants evaluated on them.
    async fn inspect(&self, job: JobId) -> Answer<Inspection>;

    /// Now and whenever something of the job changes, until it has ended.
    async fn watch(&self, job: JobId) -> Answer<Watching>;

    /// Whatever changes in the installation, coalesced; begins with the overview.
    async fn events(&self) -> Answer<Watching>;

    /// The log of an attempt: of the last one when none is named. Following ends with the attempt.
    async fn log(&self, job: JobId, attempt: Option<u32>, follow: bool) -> Answer<Bytestream>;

    /// The published result of a job.
    async fn result(&self, job: JobId) -> Answer<ResultSummary>;

    /// What is in it, in the order of the paths, after one of them; at most `limit`.
    async fn result_entries(
        &self,
        job: JobId,
        after: Option<&str>,
        limit: usize,
    ) -> Answer<Page<ResultEntry>>;

    /// A file of it, straight from the target.
    async fn result_file(&self, job: JobId, path: &str, range: Range<u64>) -> Answer<FileBody>;

    /// Workers as they registered, with the leases they hold.
    async fn workers(&self) -> Answer<Vec<Worker>>;

    /// Asks a worker to take no more work and to end when what it runs has ended or was handed back. It hears of it within
    /// a third of a lease, and then shows as draining; a loss of coordination before that forgets the request. A worker
    /// that a server keeps on its own machine is followed by a fresh one once it has ended.
    async fn drain(&self, worker: Incarnation) -> Answer<()>;

    /// Queues with what is in them.
    async fn queues(&self) -> Answer<Vec<Queue>>;

    /// The pool: limits and what is in use.
    async fn pool(&self) -> Answer<Pool>;

    /// Changes limits, lease length or pauses. From the answer on nothing is reserved under the old ones.
    async fn configure(&self, change: &PoolChange) -> Answer<Pool>;

    /// What an operator looks at first.
    async fn overview(&self) -> Answer<Overview>;

    /// Examines each room.
    async fn doctor(&self) -> Answer<Vec<RoomReport>>;

    /// Whether this process can claim, renew and publish now, by trying each room.
    async fn readiness(&self) -> Readiness;
}
