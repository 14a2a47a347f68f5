//! The port answered from the rooms themselves.
//!
//! Promises: nothing is answered from memory but what a comment says; a room that is away is named, and what the others
//! hold is shown all the same. Does not hold rooms open: whoever made them does.

mod changes;
mod explain;
mod jobs;
mod kept;
mod logs;
mod manifests;
mod pool;
mod ready;
mod results;
mod trouble;
mod watching;

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use coordination::CoordinationRoom;
use durable::{Durable, DurableReads, DurableRoom, Listing};
use protocol::{Finding, Incarnation, JobId};
use runtime::{Caller, Runtime};
use target::Target;

use crate::port::{Answer, Api, Bytestream, FileBody, Watching};
use crate::v1::{
    Cancelled, Code, Inspection, Item, Job, JobDetail, JobQuery, Overview, Page, Pool, PoolChange, Problem,
    Queue, Readiness, ResultEntry, ResultSummary, Retried, RoomReport, Submission, Submitted, Why, Worker,
};
pub use changes::check;
pub use kept::Kept;
use manifests::Manifests;
use pool::Boards;
pub use pool::configure;

/// Examines the rooms, for `doctor`.
#[async_trait]
pub trait Examine: Send + Sync {
    /// What was found in each room.
    async fn examine(&self) -> Vec<(&'static str, Vec<Finding>)>;
}

/// The rooms that answers come from.
#[derive(Clone)]
pub struct DirectRooms {
    /// Lists and single jobs.
    pub listing: Arc<dyn Listing>,
    /// Fresh reads.
    pub reads: Arc<dyn DurableReads>,
    /// Changes; absent where a store is only read.
    pub durable: Option<Arc<dyn Durable>>,
    /// Coordination; absent for a data folder that nobody owns.
    pub coordination: Option<Arc<dyn CoordinationRoom>>,
    /// Results and logs.
    pub target: Arc<dyn Target>,
    /// Who examines them.
    pub examine: Option<Arc<dyn Examine>>,
    /// What has to live as long as they are used, such as a lock.
    pub held: Option<Arc<dyn Any + Send + Sync>>,
}

impl DirectRooms {
    /// All three rooms.
    #[must_use]
    pub fn of(
        durable: Arc<dyn DurableRoom>,
        coordination: Arc<dyn CoordinationRoom>,
        target: Arc<dyn Target>,
    ) -> Self {
        Self {
            listing: Arc::clone(&durable) as Arc<dyn Listing>,
            reads: Arc::clone(&durable) as Arc<dyn DurableReads>,
            durable: Some(durable),
            coordination: Some(coordination),
            target,
            examine: None,
            held: None,
        }
    }
}

/// Answers from the rooms.
#[derive(Clone)]
pub struct Direct {
    rooms: DirectRooms,
    runtime: Runtime,
    caller: Caller,
    manifests: Arc<Manifests>,
    boards: Arc<Boards>,
}

impl Direct {
    /// Answers from these rooms.
    #[must_use]
    pub fn new(rooms: DirectRooms) -> Self {
        let runtime = Runtime::system();
        let caller = Caller::new(runtime.new_actor_id());
        Self { rooms, runtime, caller, manifests: Arc::default(), boards: Arc::default() }
    }

    fn durable(&self) -> Answer<&Arc<dyn Durable>> {
        self.rooms.durable.as_ref().ok_or_else(|| Problem::new(Code::Unavailable, "this store is only read"))
    }

    fn coordination(&self) -> Answer<&Arc<dyn CoordinationRoom>> {
        self.rooms.coordination.as_ref().ok_or_else(|| {
            Problem::new(Code::Unavailable, "nobody holds coordination: the data folder has no owner")
                .hint("start `remora dev`")
        })
    }
}

#[async_trait]
impl Api for Direct {
    async fn jobs(&self, query: &JobQuery) -> Answer<Page<Job>> {
        self.list(query).await
    }

    async fn job(&self, job: JobId) -> Answer<JobDetail> {
        self.detail(job).await
    }

    async fn submit(&self, jobs: Vec<Submission>) -> Answer<Vec<Item<Submitted>>> {
        self.accept(jobs).await
    }

    async fn cancel(&self, jobs: &[JobId]) -> Answer<Vec<Item<Cancelled>>> {
        self.request_cancels(jobs).await
    }

    async fn retry(&self, jobs: &[JobId]) -> Answer<Vec<Item<Retried>>> {
        self.retry_all(jobs).await
    }

    async fn why(&self, job: JobId) -> Answer<Why> {
        self.explain(job).await
    }

    async fn inspect(&self, job: JobId) -> Answer<Inspection> {
        self.lay_side_by_side(job).await
    }

    async fn watch(&self, job: JobId) -> Answer<Watching> {
        self.watch_job(job).await
    }

    async fn events(&self) -> Answer<Watching> {
        Ok(self.watch_all())
    }

    async fn log(&self, job: JobId, attempt: Option<u32>, follow: bool) -> Answer<Bytestream> {
        self.read_log(job, attempt, follow).await
    }

    async fn result(&self, job: JobId) -> Answer<ResultSummary> {
        self.summary_of_result(job).await
    }

    async fn result_entries(
        &self,
        job: JobId,
        after: Option<&str>,
        limit: usize,
    ) -> Answer<Page<ResultEntry>> {
        self.entries(job, after, limit).await
    }

    async fn result_file(&self, job: JobId, path: &str, range: Range<u64>) -> Answer<FileBody> {
        self.file(job, path, range).await
    }

    async fn workers(&self) -> Answer<Vec<Worker>> {
        self.registered().await
    }

    async fn drain(&self, worker: Incarnation) -> Answer<()> {
        self.ask_to_drain(worker).await
    }

    async fn queues(&self) -> Answer<Vec<Queue>> {
        self.count_queues().await
    }

    async fn pool(&self) -> Answer<Pool> {
        self.read_pool().await
    }

    async fn configure(&self, change: &PoolChange) -> Answer<Pool> {
        self.change_pool(change).await
    }

    async fn overview(&self) -> Answer<Overview> {
        self.look_over().await
    }

    async fn doctor(&self) -> Answer<Vec<RoomReport>> {
        self.examine_rooms().await
    }

    async fn readiness(&self) -> Readiness {
        self.try_rooms().await
    }
}
