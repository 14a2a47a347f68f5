//! What a case works with: a fresh room, a clock it can move, and short words for the steps of a job's life.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use protocol::{
    ActorId, AttemptId, Event, FailureCause, Fault, Guard, Incarnation, JobId, JobSpec, Mark, Origin, Phase,
    Reason, ReservationId, RetryPolicy, Stamped, Step, Token, UserProgress, id,
};

use crate::{
    AcceptFailure, AcceptSuccess, AuthorizeAttempt, Authorized, Document, DurableRoom, Ended, FinalizeCancel,
    InvalidateCheckpoint, JobView, PersistCheckpoint, ReapLostAttempt, RequestCancel, ResultRecord,
    ScheduleRetry, Submit,
};

/// What an adapter brings to the suite.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// The room: fresh, with a pool of epoch 1 that is open, a lease length of 15,000 ms and 1,000 places.
    fn room(&self) -> Arc<dyn DurableRoom>;

    /// Moves the store's clock. Nothing else moves it.
    fn advance(&self, ms: u64);

    /// The events recorded so far; `None` where the room itself records none.
    fn events(&self) -> Option<Vec<Event>>;

    /// Makes what the store keeps of a job's submission unreadable, behind the port's back.
    async fn damage(&self, job: JobId);
}

/// A case's surroundings.
pub struct World {
    fixture: Arc<dyn Fixture>,
    /// The room under test.
    pub room: Arc<dyn DurableRoom>,
    next: AtomicU64,
}

/// An attempt that was claimed.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Its job.
    pub job: JobId,
    /// It.
    pub attempt: AttemptId,
    /// Its token.
    pub token: Token,
    /// What the claim gave.
    pub authorized: Authorized,
}

impl World {
    /// A world over a fixture.
    #[must_use]
    pub fn new(fixture: Arc<dyn Fixture>) -> Self {
        Self { room: fixture.room(), fixture, next: AtomicU64::new(1) }
    }

    /// Moves the store's clock.
    pub fn advance(&self, ms: u64) {
        self.fixture.advance(ms);
    }

    /// The events recorded so far, where the room records.
    pub fn events(&self) -> Option<Vec<Event>> {
        self.fixture.events()
    }

    /// Makes a job's submission unreadable.
    pub async fn damage(&self, job: JobId) {
        self.fixture.damage(job).await;
    }

    /// A number that was not given before.
    pub fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The origin of the next request.
    pub fn origin(&self) -> Origin {
        let sequence = self.number();
        Origin { actor: ActorId(7), sequence, sent_after: sequence - 1 }
    }

    /// A new job id; later ones are higher.
    pub fn job_id(&self) -> JobId {
        JobId(id::v7(self.number(), 5))
    }

    /// A new attempt id.
    pub fn attempt_id(&self) -> AttemptId {
        AttemptId(id::v7(self.number(), 6))
    }

    /// Submits a job.
    pub async fn submit(&self, spec: JobSpec) -> JobId {
        let job = self.job_id();
        let request = Submit { job, spec, retry_of: None };
        assert_eq!(taken(self.room.submit(&self.origin(), &[request]).await).phase, Phase::Queued);
        job
    }

    /// A claim of the job, on the checkpoint that is there.
    pub async fn claim_of(&self, job: JobId) -> AuthorizeAttempt {
        let checkpoint = self.room.checkpoint(job).await.unwrap();
        AuthorizeAttempt {
            job,
            attempt: self.attempt_id(),
            worker: Incarnation(11),
            reservation: ReservationId(12),
            epoch: 1,
            checkpoint_revision: checkpoint.map_or(0, |checkpoint| checkpoint.revision),
            judged: Vec::new(),
        }
    }

    /// Claims a queued job.
    pub async fn claim(&self, job: JobId) -> Claimed {
        let request = self.claim_of(job).await;
        let attempt = request.attempt;
        let authorized = taken(self.room.authorize_attempt(&self.origin(), &[request]).await);
        Claimed { job, attempt, token: authorized.token, authorized }
    }

    /// A job with an attempt that has authority.
    pub async fn running(&self, spec: JobSpec) -> Claimed {
        let job = self.submit(spec).await;
        self.claim(job).await
    }

    /// A job that waits for its second attempt, due at once.
    pub async fn waiting(&self) -> Claimed {
        let claimed = self.running(at_once()).await;
        assert_eq!(self.fail(&claimed).await.phase, Phase::RetryWait);
        claimed
    }

    /// A job whose only attempt failed.
    pub async fn failed(&self) -> Claimed {
        let claimed = self.running(JobSpec { max_attempts: 1, ..at_once() }).await;
        assert_eq!(self.fail(&claimed).await.phase, Phase::Failed);
        claimed
    }

    /// A job that succeeded.
    pub async fn succeeded(&self) -> Claimed {
        let claimed = self.running(at_once()).await;
        self.succeed(&claimed).await;
        claimed
    }

    /// A job that is cancelling.
    pub async fn cancelling(&self) -> Claimed {
        let claimed = self.running(at_once()).await;
        self.cancel(claimed.job).await;
        claimed
    }

    /// A job that was cancelled while an attempt ran.
    pub async fn cancelled(&self) -> Claimed {
        let claimed = self.cancelling().await;
        taken(self.room.finalize_cancel(&self.origin(), &[finalize(&claimed)]).await);
        claimed
    }

    /// Ends the attempt with a failure.
    pub async fn fail(&self, claimed: &Claimed) -> Ended {
        taken(self.room.accept_failure(&self.origin(), &[failure(claimed, FailureCause::Failed)]).await)
    }

    /// Ends the attempt with a loss.
    pub async fn lose(&self, claimed: &Claimed) -> Ended {
        taken(self.room.reap_lost_attempt(&self.origin(), &[loss(claimed)]).await)
    }

    /// Publishes the attempt's result.
    pub async fn succeed(&self, claimed: &Claimed) -> Ended {
        taken(self.room.accept_success(&self.origin(), &[success(claimed)]).await)
    }

    /// Asks for the job's cancel.
    pub async fn cancel(&self, job: JobId) {
        taken(self.room.request_cancel(&self.origin(), &[RequestCancel { job }]).await);
    }

    /// Queues a job whose retry is due.
    pub async fn schedule(&self, job: JobId) {
        taken(self.room.schedule_retry(&self.origin(), &[ScheduleRetry { job }]).await);
    }

    /// Persists a checkpoint of the attempt; answers its revision.
    pub async fn persist(&self, claimed: &Claimed, progress: u64) -> u64 {
        let request = checkpoint(claimed, progress);
        taken(self.room.persist_checkpoint(&self.origin(), &[request]).await).checkpoint_revision
    }

    /// Declares a checkpoint bad.
    pub async fn invalidate(&self, job: JobId, checkpoint_revision: u64) {
        let request = InvalidateCheckpoint { job, checkpoint_revision, reason: "hash differs".to_owned() };
        taken(self.room.invalidate_checkpoint(&self.origin(), &[request]).await);
    }

    /// The job, as people see it.
    pub async fn view(&self, job: JobId) -> JobView {
        self.room.job(job).await.unwrap().unwrap()
    }

    /// The job's phase and revision, as agents read them.
    pub async fn standing(&self, job: JobId) -> (Phase, u64) {
        let read = self.room.phases(&[job]).await.unwrap()[0].unwrap();
        (read.phase, read.mark.order)
    }

    /// Whether the job is offered to dispatchers.
    pub async fn offered(&self, job: JobId) -> bool {
        !self.room.dispatch_read_jobs(&[job]).await.unwrap().is_empty()
    }
}

/// A job whose retries are due at once.
#[must_use]
pub fn at_once() -> JobSpec {
    JobSpec { retry: RetryPolicy { base_ms: 0, cap_ms: 0 }, ..JobSpec::default() }
}

/// A failure of the attempt.
#[must_use]
pub fn failure(claimed: &Claimed, cause: FailureCause) -> AcceptFailure {
    AcceptFailure {
        job: claimed.job,
        attempt: claimed.attempt,
        token: claimed.token,
        cause,
        error: format!("attempt {} failed\nsecond line", claimed.token),
        exit: None,
        chance: u64::MAX,
    }
}

/// A loss of the attempt, with no chance in its delay.
#[must_use]
pub fn loss(claimed: &Claimed) -> ReapLostAttempt {
    ReapLostAttempt {
        job: claimed.job,
        attempt: claimed.attempt,
        token: claimed.token,
        error: "worker lost".to_owned(),
        chance: 0,
        judged: Vec::new(),
    }
}

/// A success of the attempt.
#[must_use]
pub fn success(claimed: &Claimed) -> AcceptSuccess {
    let manifest = Document::Inline(format!("result of {}", claimed.attempt).into_bytes());
    AcceptSuccess {
        job: claimed.job,
        attempt: claimed.attempt,
        token: claimed.token,
        result: ResultRecord { manifest, digest: [9; 32], files: 3, bytes: 12_345_678_901 },
    }
}

/// The end of a cancel, by the attempt's own worker.
#[must_use]
pub fn finalize(claimed: &Claimed) -> FinalizeCancel {
    FinalizeCancel { job: claimed.job, attempt: claimed.attempt, judged: Vec::new() }
}

/// A checkpoint of the attempt.
#[must_use]
pub fn checkpoint(claimed: &Claimed, progress: u64) -> PersistCheckpoint {
    PersistCheckpoint {
        job: claimed.job,
        attempt: claimed.attempt,
        token: claimed.token,
        progress,
        user: UserProgress { done: progress * 10, total: Some(100), message: Some(format!("at {progress}")) },
        state: state_of(progress),
        manifest: manifest_of(progress),
    }
}

/// The state of a checkpoint: one that lies on the target.
#[must_use]
pub fn state_of(progress: u64) -> Document {
    Document::Stored { key: format!("state/{progress}"), length: 70_000 + progress, digest: [1; 32] }
}

/// The manifest of a checkpoint: one in the row.
#[must_use]
pub fn manifest_of(progress: u64) -> Document {
    Document::Inline(format!("parts of {progress}").into_bytes())
}

/// The only answer of a batch of one.
#[track_caller]
pub fn one<T>(answer: Result<Vec<Stamped<T>>, Fault>) -> Stamped<T> {
    let mut answers = answer.unwrap();
    assert_eq!(answers.len(), 1);
    answers.pop().unwrap()
}

/// The effect of a batch of one.
#[track_caller]
pub fn taken<T>(answer: Result<Vec<Stamped<T>>, Fault>) -> T {
    match one(answer).step {
        Step::Taken(effect) => effect,
        Step::Refused(guard) => panic!("refused: {guard}"),
        Step::SetAside(reason) => panic!("set aside: {reason}"),
    }
}

/// The guard that refused a batch of one.
#[track_caller]
pub fn refused<T>(answer: Result<Vec<Stamped<T>>, Fault>) -> Guard {
    match one(answer).step {
        Step::Refused(guard) => guard,
        Step::Taken(_) => panic!("taken"),
        Step::SetAside(reason) => panic!("set aside: {reason}"),
    }
}

/// Why a batch of one was set aside.
#[track_caller]
pub fn aside<T>(answer: Result<Vec<Stamped<T>>, Fault>) -> String {
    match one(answer).step {
        Step::SetAside(Reason(reason)) => reason,
        Step::Taken(_) => panic!("taken"),
        Step::Refused(guard) => panic!("refused: {guard}"),
    }
}

/// The job's mark at a revision.
#[must_use]
pub fn mark(revision: u64) -> Mark {
    Mark { epoch: 0, order: revision }
}
