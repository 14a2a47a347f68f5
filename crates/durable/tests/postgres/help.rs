//! Requests, and where they are sent.

use protocol::{
    ActorId, AttemptId, Incarnation, JobId, JobSpec, Origin, ReservationId, RetryPolicy, Step, Token,
};
use remora_durable::postgres::migrate::{self, Setup};
use remora_durable::postgres::{Options, PostgresRoom};
use remora_durable::{
    AcceptFailure, AcceptSuccess, AuthorizeAttempt, Document, Durable, DurableReads, JobFilter, Listing,
    PersistCheckpoint, RequestCancel, ResultRecord, Retry, ScheduleRetry, StageSwept, Submit,
};
use tokio_postgres::{Client, NoTls};

use crate::url::fresh_url;

pub(crate) const ORIGIN: Origin = Origin { actor: ActorId(1), sequence: 1, sent_after: 0 };

pub(crate) fn submit(number: u128) -> Submit {
    let spec = JobSpec { retry: RetryPolicy { base_ms: 0, cap_ms: 0 }, ..JobSpec::default() };
    Submit { job: JobId(number), spec, retry_of: None }
}

pub(crate) fn claim(job: u128, attempt: u128) -> AuthorizeAttempt {
    AuthorizeAttempt {
        job: JobId(job),
        attempt: AttemptId(attempt),
        worker: Incarnation(3),
        reservation: ReservationId(4),
        epoch: 1,
        checkpoint_revision: 0,
        judged: Vec::new(),
    }
}

pub(crate) fn success(job: u128, attempt: u128) -> AcceptSuccess {
    let result = ResultRecord { manifest: Document::empty(), digest: [7; 32], files: 1, bytes: 1 };
    AcceptSuccess { job: JobId(job), attempt: AttemptId(attempt), token: Token(1), result }
}

pub(crate) fn failure(job: u128, attempt: u128) -> AcceptFailure {
    AcceptFailure {
        job: JobId(job),
        attempt: AttemptId(attempt),
        token: Token(1),
        cause: protocol::FailureCause::Failed,
        error: "it failed".to_owned(),
        exit: None,
        chance: 0,
    }
}

pub(crate) async fn fresh() -> (PostgresRoom, String) {
    let url = fresh_url();
    migrate::up(&url, &Setup::default()).await.unwrap();
    (PostgresRoom::open(&url, Options::default()).await.unwrap(), url)
}

pub(crate) async fn client(url: &str) -> Client {
    let plain = url.split('?').next().unwrap();
    let (client, connection) = tokio_postgres::connect(plain, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

pub(crate) fn schema(url: &str) -> &str {
    url.split("schema=").nth(1).unwrap().split('&').next().unwrap()
}

pub(crate) fn taken<T>(step: &Step<T>) -> bool {
    matches!(step, Step::Taken(_))
}

/// Every action and every read once.
pub(crate) async fn a_day(room: &PostgresRoom) {
    room.submit(&ORIGIN, &[submit(1), submit(2), submit(3)]).await.unwrap();
    room.authorize_attempt(&ORIGIN, &[claim(1, 11), claim(2, 12), claim(3, 13)]).await.unwrap();
    let checkpoint = PersistCheckpoint {
        job: JobId(1),
        attempt: AttemptId(11),
        token: Token(1),
        progress: 1,
        user: protocol::UserProgress::default(),
        state: Document::empty(),
        manifest: Document::empty(),
    };
    let stored = room.persist_checkpoint(&ORIGIN, &[checkpoint]).await.unwrap();
    assert!(taken(&stored[0].step));
    let bad = remora_durable::InvalidateCheckpoint {
        job: JobId(1),
        checkpoint_revision: 3,
        reason: "bad".to_owned(),
    };
    assert!(taken(&room.invalidate_checkpoint(&ORIGIN, &[bad]).await.unwrap()[0].step));
    assert!(taken(&room.accept_success(&ORIGIN, &[success(1, 11)]).await.unwrap()[0].step));
    assert!(taken(&room.accept_failure(&ORIGIN, &[failure(2, 12)]).await.unwrap()[0].step));
    assert!(taken(&room.schedule_retry(&ORIGIN, &[ScheduleRetry { job: JobId(2) }]).await.unwrap()[0].step));
    for job in [JobId(2), JobId(3)] {
        assert!(taken(&room.request_cancel(&ORIGIN, &[RequestCancel { job }]).await.unwrap()[0].step));
    }
    let end = remora_durable::FinalizeCancel { job: JobId(3), attempt: AttemptId(13), judged: Vec::new() };
    assert!(taken(&room.finalize_cancel(&ORIGIN, &[end]).await.unwrap()[0].step));
    let again = Retry { job: JobId(3), new_job: JobId(4) };
    assert!(taken(&room.retry(&ORIGIN, &[again]).await.unwrap()[0].step));
    let swept = StageSwept { job: JobId(1), attempt: AttemptId(11), kept: false };
    room.stages_swept(&ORIGIN, &[swept]).await.unwrap();
    let change = remora_durable::Configure { global_limit: Some(7), ..remora_durable::Configure::default() };
    room.configure(&ORIGIN, &change).await.unwrap();
    room.raise_epoch(&ORIGIN, &remora_durable::RaiseEpoch { from: 1, to: 2 }).await.unwrap();
    room.open_epoch(&ORIGIN, 2).await.unwrap();
    assert_eq!(room.list(&JobFilter::default()).await.unwrap().jobs.len(), 4);
    assert_eq!(room.waiting_windows().await.unwrap().len(), 1);
}
