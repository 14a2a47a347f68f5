//! Lost replies, lost sessions, lost servers: what was answered is there, what was not can be asked again.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use protocol::{Action, AttemptId, Event, EventSink, Fault, FaultKind, JobId, Stamped, Token, UserProgress};
use remora_durable::postgres::migrate::{self, Setup};
use remora_durable::postgres::{Options, PostgresRoom};
use remora_durable::{
    Document, Durable, DurableReads, FinalizeCancel, InvalidateCheckpoint, Listing, PersistCheckpoint,
    ReapLostAttempt, RequestCancel, Retry, ScheduleRetry,
};
use testbed::Postgres;

use crate::help::{ORIGIN, claim, client, failure, fresh, schema, submit, success, taken};
use crate::proxy::{Proxy, Then};

/// A room that reaches the shared server through a proxy, over one connection.
async fn behind(then: Then) -> (PostgresRoom, Proxy, String) {
    behind_with(then, Options::default()).await
}

async fn behind_with(then: Then, options: Options) -> (PostgresRoom, Proxy, String) {
    let (_, url) = fresh().await;
    let port: u16 = url.split(':').nth(2).unwrap().split('/').next().unwrap().parse().unwrap();
    let proxy = Proxy::to(port, then).await;
    let through = url
        .replace(&format!(":{port}/"), &format!(":{}/", proxy.port))
        .replace("connections=4", "connections=1");
    let through = format!("{through}&statements=named&call_timeout_ms=2000");
    (PostgresRoom::open(&through, options).await.unwrap(), proxy, url)
}

fn checkpoint(job: u128) -> PersistCheckpoint {
    PersistCheckpoint {
        job: JobId(job),
        attempt: AttemptId(job + 100),
        token: Token(1),
        progress: 1,
        user: UserProgress::default(),
        state: Document::empty(),
        manifest: Document::Inline(vec![1]),
    }
}

fn loss(job: u128) -> ReapLostAttempt {
    ReapLostAttempt {
        job: JobId(job),
        attempt: AttemptId(job + 100),
        token: Token(1),
        error: "lost".to_owned(),
        chance: 0,
        judged: Vec::new(),
    }
}

fn kind<T: std::fmt::Debug>(answer: Result<Vec<Stamped<T>>, Fault>) -> FaultKind {
    answer.unwrap_err().kind
}

/// Asks once so that the statement is prepared, then loses the reply of the second job's request and asks again.
macro_rules! lost_and_asked_again {
    ($room:expr, $proxy:expr, $first:expr, $method:ident, $request:expr) => {{
        let request = $request;
        assert!(
            taken(&$room.$method(&ORIGIN, &[request(1_u128)]).await.unwrap()[0].step),
            stringify!($method)
        );
        $proxy.lose_after($first);
        let fault = kind($room.$method(&ORIGIN, &[request(2)]).await);
        assert_eq!(fault, FaultKind::Ambiguous, stringify!($method));
        assert!($proxy.has_lost());
        let there = $room.phases(&[JobId(2)]).await.unwrap()[0].unwrap();
        let again = $room.$method(&ORIGIN, &[request(2)]).await.unwrap();
        assert!(taken(&again[0].step), "{}: {:?}", stringify!($method), again[0]);
        let after = $room.phases(&[JobId(2)]).await.unwrap()[0].unwrap();
        assert_eq!(there, after, "{}: no second effect", stringify!($method));
        after
    }};
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_of_each_action_is_ambiguous_and_the_same_request_again_is_answered_once() {
    let (room, proxy, url) = behind(Then::Close).await;
    let order = |standing: remora_durable::PhaseRead| standing.mark.order;
    assert_eq!(order(lost_and_asked_again!(room, proxy, 0, submit, submit)), 1);
    // A claim first reads what it gives.
    assert_eq!(
        order(lost_and_asked_again!(room, proxy, 1, authorize_attempt, |job| claim(job, job + 100))),
        2
    );
    assert_eq!(order(lost_and_asked_again!(room, proxy, 0, persist_checkpoint, checkpoint)), 3);
    let bad =
        |job| InvalidateCheckpoint { job: JobId(job), checkpoint_revision: 3, reason: "bad".to_owned() };
    assert_eq!(order(lost_and_asked_again!(room, proxy, 0, invalidate_checkpoint, bad)), 4);
    assert_eq!(
        order(lost_and_asked_again!(room, proxy, 0, accept_failure, |job| failure(job, job + 100))),
        5
    );
    let due = |job| ScheduleRetry { job: JobId(job) };
    assert_eq!(order(lost_and_asked_again!(room, proxy, 0, schedule_retry, due)), 6);
    let cancel = |job| RequestCancel { job: JobId(job) };
    assert_eq!(order(lost_and_asked_again!(room, proxy, 0, request_cancel, cancel)), 7);
    let retry = |job| Retry { job: JobId(job), new_job: JobId(job + 50) };
    lost_and_asked_again!(room, proxy, 1, retry, retry);
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_of_each_end_is_ambiguous_and_the_same_request_again_is_answered_once() {
    for end in ["success", "loss", "cancel"] {
        let (room, proxy, url) = behind(Then::Close).await;
        room.submit(&ORIGIN, &[submit(1), submit(2)]).await.unwrap();
        room.authorize_attempt(&ORIGIN, &[claim(1, 101), claim(2, 102)]).await.unwrap();
        match end {
            "success" => lost_and_asked_again!(room, proxy, 0, accept_success, |job| success(job, job + 100)),
            "loss" => lost_and_asked_again!(room, proxy, 0, reap_lost_attempt, loss),
            _ => {
                let cancels = [1, 2].map(|job| RequestCancel { job: JobId(job) });
                room.request_cancel(&ORIGIN, &cancels).await.unwrap();
                let end = |job| FinalizeCancel {
                    job: JobId(job),
                    attempt: AttemptId(job + 100),
                    judged: Vec::new(),
                };
                lost_and_asked_again!(room, proxy, 0, finalize_cancel, end)
            }
        };
        assert!(room.running(None, 9).await.unwrap().is_empty());
        migrate::down(&url).await.unwrap();
    }
}

/// What was recorded of the second job.
#[derive(Default)]
struct Trace(Mutex<Vec<Event>>);

impl EventSink for Trace {
    fn record(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

impl Trace {
    fn taken_of(&self, job: u128) -> Vec<(Action, u64, Option<Token>)> {
        let events = self.0.lock().unwrap();
        let taken = events
            .iter()
            .filter(|one| one.job == Some(JobId(job)) && one.outcome == protocol::Outcome::Taken);
        taken.map(|one| (one.action, one.order, one.token)).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_and_answered_to_nobody_is_recorded_once_when_it_is_asked_again() {
    for is_success in [true, false] {
        let trace = Arc::new(Trace::default());
        let options = Options { sink: Arc::clone(&trace) as Arc<dyn EventSink>, ..Options::default() };
        let (room, proxy, url) = behind_with(Then::Close, options).await;
        room.submit(&ORIGIN, &[submit(1), submit(2)]).await.unwrap();
        lost_and_asked_again!(room, proxy, 1, authorize_attempt, |job| claim(job, job + 100));
        lost_and_asked_again!(room, proxy, 0, persist_checkpoint, checkpoint);
        let end = if is_success {
            lost_and_asked_again!(room, proxy, 0, accept_success, |job| success(job, job + 100));
            assert!(taken(&room.accept_success(&ORIGIN, &[success(2, 102)]).await.unwrap()[0].step));
            Action::AcceptSuccess
        } else {
            lost_and_asked_again!(room, proxy, 0, accept_failure, |job| failure(job, job + 100));
            assert!(taken(&room.accept_failure(&ORIGIN, &[failure(2, 102)]).await.unwrap()[0].step));
            Action::AcceptFailure
        };
        let token = Some(Token(1));
        let expected =
            [(Action::AuthorizeAttempt, 2, token), (Action::PersistCheckpoint, 3, token), (end, 4, token)];
        assert_eq!(trace.taken_of(2), expected);
        assert_eq!(trace.taken_of(1), expected, "and what was answered at once");
        migrate::down(&url).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_does_not_come_is_ambiguous_at_the_time_limit_and_the_session_is_thrown_away() {
    let (room, proxy, url) = behind(Then::Silence).await;
    room.submit(&ORIGIN, &[submit(1)]).await.unwrap();
    proxy.lose_after(0);
    let asked = Instant::now();
    assert_eq!(kind(room.submit(&ORIGIN, &[submit(2)]).await), FaultKind::Ambiguous);
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    assert!(taken(&room.submit(&ORIGIN, &[submit(2)]).await.unwrap()[0].step));
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_in_the_middle_leaves_no_session_in_a_transaction() {
    let (room, url) = fresh().await;
    let room = Arc::new(room);
    room.submit(&ORIGIN, &[submit(1)]).await.unwrap();
    let mut other = client(&url).await;
    let name = schema(&url).to_owned();
    let transaction = other.transaction().await.unwrap();
    transaction.batch_execute(&format!("SELECT FROM {name}.job FOR UPDATE")).await.unwrap();
    let watcher = client(&url).await;
    let state = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%' || $1 || '%' AND pid <> pg_backend_pid() \
                 AND CASE $2 WHEN 'waits' THEN cardinality(pg_blocking_pids(pid)) > 0 \
                 ELSE state LIKE 'idle in transaction%' END";
    let sessions =
        async |which: &str| watcher.query_one(state, &[&name, &which]).await.unwrap().get::<_, i64>(0);
    let waiting = tokio::spawn({
        let room = Arc::clone(&room);
        async move { room.authorize_attempt(&ORIGIN, &[claim(1, 11)]).await }
    });
    while sessions("waits").await == 0 {
        tokio::task::yield_now().await;
    }
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    transaction.rollback().await.unwrap();
    while sessions("waits").await > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(sessions("idle").await, 0);
    // It was claimed, or it was not: the same request again says the same.
    assert!(taken(&room.authorize_attempt(&ORIGIN, &[claim(1, 11)]).await.unwrap()[0].step));
    migrate::down(&url).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_no_writes_for_a_while_is_unreachable_and_then_works_again() {
    let server = Postgres::start();
    let url = format!("{}?sslmode=disable", server.url());
    migrate::up(&url, &Setup::default()).await.unwrap();
    let room = PostgresRoom::open(&url, Options::default()).await.unwrap();
    room.submit(&ORIGIN, &[submit(1)]).await.unwrap();
    let admin = client(&url).await;
    let read_only = async |value: &str| {
        admin
            .batch_execute(&format!("ALTER SYSTEM SET default_transaction_read_only = {value}"))
            .await
            .unwrap();
        admin.query("SELECT pg_reload_conf()", &[]).await.unwrap();
    };
    read_only("on").await;
    let mut number = 2;
    while room.submit(&ORIGIN, &[submit(number)]).await.is_ok() {
        number += 1;
    }
    assert_eq!(kind(room.submit(&ORIGIN, &[submit(number)]).await), FaultKind::Unreachable);
    assert_eq!(room.phases(&[JobId(number)]).await.unwrap(), [None]);
    admin.batch_execute("SET default_transaction_read_only = off").await.unwrap();
    read_only("off").await;
    while room.submit(&ORIGIN, &[submit(number)]).await.is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_and_comes_back_has_all_that_was_answered_and_work_goes_on() {
    let mut server = Postgres::start();
    let url = format!("{}?sslmode=disable&call_timeout_ms=2000", server.url());
    migrate::up(&url, &Setup::default()).await.unwrap();
    let room = Arc::new(PostgresRoom::open(&url, Options::default()).await.unwrap());
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let tasks: Vec<_> = (0..8_u128)
        .map(|task| {
            let (room, stop) = (Arc::clone(&room), Arc::clone(&stop));
            tokio::spawn(async move {
                let (mut answered, mut faults) = (Vec::new(), 0_u32);
                let mut number = task * 1_000_000 + 1;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    match room.submit(&ORIGIN, &[submit(number)]).await {
                        Ok(answer) => {
                            assert!(taken(&answer[0].step));
                            answered.push(JobId(number));
                            number += 1;
                        }
                        // Asked again with the same id.
                        Err(_) => {
                            faults += 1;
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                    }
                }
                (answered, faults)
            })
        })
        .collect();
    let counted =
        async || room.counts().await.map_or(0, |counts| counts.first().map_or(0, |count| count.jobs));
    while counted().await < 200 {
        tokio::task::yield_now().await;
    }
    let server = tokio::task::spawn_blocking(move || {
        server.start_again();
        server
    })
    .await
    .unwrap();
    let before = loop {
        match counted().await {
            0 => tokio::task::yield_now().await,
            jobs => break jobs,
        }
    };
    while counted().await < before + 200 {
        tokio::task::yield_now().await;
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let (mut all, mut faults) = (Vec::new(), 0);
    for task in tasks {
        let (answered, failed) = task.await.unwrap();
        all.extend(answered);
        faults += failed;
    }
    assert!(faults > 0, "somebody noticed");
    let phases = room.phases(&all).await.unwrap();
    assert!(phases.iter().all(Option::is_some), "every answered job is there");
    drop(server);
}
