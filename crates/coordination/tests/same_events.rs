//! A room on a server records what the embedded room records, step by step; and many at once never get more than is
//! there.
#![cfg(all(feature = "dragonfly", feature = "postgres", feature = "memory"))]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol::{
    ActorId, AttemptId, Event, EventSink, Incarnation, JobId, Judged, Mark, Origin, Position, Priority,
    ReservationId, Token, UserProgress, Window,
};
use remora_coordination::dragonfly::{self, DragonflyRoom};
use remora_coordination::memory::{self, MemoryRoom};
use remora_coordination::postgres::{self, PostgresRoom};
use remora_coordination::*;

#[derive(Default)]
struct Trace(Mutex<Vec<Event>>);

impl EventSink for Trace {
    fn record(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// A server that keeps the room.
#[derive(Clone, Copy)]
enum On {
    Redis,
    Postgres,
}

impl On {
    /// A room at a URL, by the server's clock unless there is another.
    async fn open(
        self,
        url: &str,
        clock_ms: Option<&Arc<AtomicU64>>,
        events: Arc<Trace>,
    ) -> Arc<dyn CoordinationRoom> {
        let clock_ms = clock_ms.map(Arc::clone);
        let clock = clock_ms.map(|ms| -> dragonfly::Clock {
            Arc::new(move || Duration::from_millis(ms.load(Ordering::SeqCst)))
        });
        match self {
            Self::Redis => {
                let options = dragonfly::Options { clock, events, ..dragonfly::Options::default() };
                Arc::new(DragonflyRoom::open(url, options).await.unwrap())
            }
            Self::Postgres => {
                let options = postgres::Options { clock, events, ..postgres::Options::default() };
                Arc::new(PostgresRoom::open(url, options).await.unwrap())
            }
        }
    }

    /// The URL of a pool that nobody else uses.
    fn fresh_url(self) -> String {
        let pool = fresh_pool();
        match self {
            Self::Redis => {
                let url = testbed::redis::shared();
                let joint = if url.contains('?') { '&' } else { '?' };
                format!("{url}{joint}installation=remora-test&pool={pool}")
            }
            Self::Postgres => {
                let url = testbed::postgres::shared();
                format!("{url}?sslmode=disable&connections=4&schema=coordination_tests&pool={pool}")
            }
        }
    }
}

fn fresh_pool() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let number = COUNT.fetch_add(1, Ordering::SeqCst);
    format!("e{}-{}-{number}", std::process::id(), since.as_micros())
}

fn at(sequence: u64) -> At {
    At { origin: Origin { actor: ActorId(5), sequence, sent_after: sequence - 1 }, epoch: 1 }
}

fn window() -> Window {
    Window { queue: "q".to_owned(), kind: "k".to_owned(), priority: Priority(2) }
}

fn judged() -> Vec<Judged> {
    vec![Judged::durable(Mark { epoch: 0, order: 9 })]
}

fn worker(number: u128) -> Registration {
    Registration {
        worker: Incarnation(number),
        name: "w".to_owned(),
        pid: 1,
        host: "h".to_owned(),
        slots: 1,
        queues: None,
        kinds: vec!["k".to_owned()],
        draining: false,
    }
}

async fn open(room: &dyn CoordinationRoom, global_limit: u32) {
    room.install_epoch(1, protocol::InstallationId(1)).await.unwrap();
    let config = PoolConfig { revision: 1, global_limit, lease_ms: 3_000, paused: Vec::new() };
    room.configure(&at(1), &config).await.unwrap();
    room.register(&at(2), &worker(1)).await.unwrap();
    room.open_epoch(&at(3)).await.unwrap();
}

fn enqueue(job: u128) -> Enqueue {
    let position = Position { sequence: u64::try_from(job).unwrap(), ..Position::default() };
    Enqueue { job: JobId(job), window: window(), position, checkpoint_revision: 6, judged: judged() }
}

/// A life with repeats, refusals and ends of every kind.
async fn live(room: &dyn CoordinationRoom, clock_ms: &AtomicU64) {
    open(room, 8).await;
    let (job, attempt, incarnation) = (JobId(1), AttemptId(1), Incarnation(1));
    for _ in 0..2 {
        room.enqueue(&at(4), &[enqueue(1), enqueue(2), enqueue(3), enqueue(4)]).await.unwrap();
    }
    let ids = [1, 2, 3, 4, 5].map(ReservationId);
    let reserve = Reserve { worker: incarnation, reservations: ids.to_vec(), windows: vec![window()] };
    for _ in 0..2 {
        room.reserve(&at(5), &reserve).await.unwrap();
    }
    let theirs = Reserve { worker: Incarnation(2), ..reserve };
    room.reserve(&at(6), &theirs).await.unwrap();
    let activate = ActivateAttempt {
        job,
        attempt,
        token: Token(7),
        reservation: ReservationId(1),
        worker: incarnation,
        judged: judged(),
    };
    let strange =
        ActivateAttempt { reservation: ReservationId(99), attempt: AttemptId(99), ..activate.clone() };
    for _ in 0..2 {
        room.activate_attempt(&at(7), &[activate.clone(), strange.clone()]).await.unwrap();
    }
    let renew = RenewLease { job, attempt, worker: incarnation };
    for _ in 0..3 {
        room.renew_lease(&at(8), &[renew, RenewLease { worker: Incarnation(2), ..renew }]).await.unwrap();
    }
    let back = HandBack { job: JobId(2), reservation: ReservationId(2), worker: incarnation };
    for _ in 0..2 {
        room.claim_refused(&at(9), &[back]).await.unwrap();
        let release = ReleaseReservation { job: JobId(3), reservation: ReservationId(3), judged: judged() };
        room.release_reservation(&at(10), &[release]).await.unwrap();
        let notice = PublishCancelNotice { job, attempt, judged: judged() };
        room.publish_cancel_notice(&at(11), &[notice]).await.unwrap();
        let progress = UserProgress { done: 3, total: Some(9), message: Some("half way".to_owned()) };
        let report = ReportProgress { job, attempt, worker: incarnation, progress, judged: judged() };
        room.report_progress(&at(12), &[report]).await.unwrap();
        let observe = ReapObserve { job, attempt, worker: incarnation, claimed_epoch: 1, by_holder: false };
        room.reap_observe(&at(13), &[observe, ReapObserve { attempt: AttemptId(5), ..observe }])
            .await
            .unwrap();
        let restore = RestoreLease {
            job,
            attempt: AttemptId(8),
            token: Token(8),
            worker: incarnation,
            judged: judged(),
        };
        room.restore_lease(&at(14), &[restore]).await.unwrap();
        let released = ReleaseLease { job, attempt: AttemptId(8), judged: judged() };
        room.release_lease(&at(15), &[released]).await.unwrap();
        room.settle(&at(16), &[AttemptId(9)]).await.unwrap();
        clock_ms.fetch_add(3_000, Ordering::SeqCst);
        room.expire_lease(&at(17), 9).await.unwrap();
        room.drop_reservation(&at(18), 9).await.unwrap();
        room.clean_terminal_coordination(&at(19), &[CleanTerminal { job, judged: judged() }]).await.unwrap();
    }
}

async fn records_as_the_embedded_room_does(on: On) {
    let (clock_ms, other_ms) = (Arc::new(AtomicU64::new(100_000)), Arc::new(AtomicU64::new(100_000)));
    let (here, there) = (Arc::new(Trace::default()), Arc::new(Trace::default()));
    let clock = Arc::clone(&clock_ms);
    let embedded = MemoryRoom::new(memory::Options {
        clock: Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst))),
        events: here.clone(),
        ..memory::Options::default()
    });
    live(&embedded, &clock_ms).await;
    let room = on.open(&on.fresh_url(), Some(&other_ms), there.clone()).await;
    live(room.as_ref(), &other_ms).await;
    let (expected, found) = (here.0.lock().unwrap().clone(), there.0.lock().unwrap().clone());
    assert!(expected.len() > 35, "{}", expected.len());
    for (one, other) in expected.iter().zip(&found) {
        assert_eq!(one, other);
    }
    assert_eq!(expected.len(), found.len());
}

#[tokio::test]
async fn a_life_is_recorded_as_the_embedded_room_records_it_order_for_order() {
    records_as_the_embedded_room_does(On::Redis).await;
}

#[tokio::test]
async fn a_life_on_postgresql_is_recorded_as_the_embedded_room_records_it_order_for_order() {
    records_as_the_embedded_room_does(On::Postgres).await;
}

/// One worker of many: takes places and gives them back until there is nothing left.
async fn work(on: On, url: String, number: u128) -> Vec<JobId> {
    let room = on.open(&url, None, Arc::default()).await;
    let mut done = Vec::new();
    for round in 0.. {
        let id = number * 1_000_000 + round + 1;
        let reserve = Reserve {
            worker: Incarnation(number),
            reservations: vec![ReservationId(id)],
            windows: vec![window()],
        };
        let answer = room.reserve(&at(1), &reserve).await.unwrap().remove(0).step;
        let Some(reserved) = answer.clone().taken() else {
            match answer.refused() {
                Some(protocol::Guard::Queued) => return done,
                _ => continue,
            }
        };
        let activate = ActivateAttempt {
            job: reserved.job,
            attempt: AttemptId(id),
            token: Token(1),
            reservation: ReservationId(id),
            worker: Incarnation(number),
            judged: Vec::new(),
        };
        assert!(room.activate_attempt(&at(2), &[activate]).await.unwrap()[0].step.refused().is_none());
        let state = room.pool().await.unwrap();
        assert!(state.reservations + state.leases <= 3, "{state:?}");
        done.push(reserved.job);
        let release = ReleaseLease { job: reserved.job, attempt: AttemptId(id), judged: Vec::new() };
        assert!(room.release_lease(&at(3), &[release]).await.unwrap()[0].step.refused().is_none());
    }
    unreachable!("until nothing is queued")
}

async fn many_at_once(on: On) {
    const JOBS: u128 = 300;
    let url = on.fresh_url();
    let room = on.open(&url, None, Arc::default()).await;
    open(room.as_ref(), 3).await;
    let jobs: Vec<_> = (1..=JOBS).map(enqueue).collect();
    room.enqueue(&at(4), &jobs).await.unwrap();
    let workers: Vec<_> = (1..=8).map(|number| tokio::spawn(work(on, url.clone(), number))).collect();
    let mut done = Vec::new();
    for worker in workers {
        done.extend(worker.await.unwrap());
    }
    assert_eq!(done.len(), 300);
    assert_eq!(done.iter().collect::<BTreeSet<_>>().len(), 300, "each once");
    let state = room.pool().await.unwrap();
    assert_eq!((state.queued, state.leases, state.reservations), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_never_pass_the_limit_and_no_job_is_given_twice() {
    many_at_once(On::Redis).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_on_postgresql_never_pass_the_limit_and_no_job_is_given_twice() {
    many_at_once(On::Postgres).await;
}

#[tokio::test]
async fn an_entry_takes_so_little_that_a_full_pool_stays_under_sixty_four_megabytes() {
    let server = testbed::Redis::start();
    let used = || {
        let text = server.say("INFO memory");
        let line = text.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
        line.trim().parse::<u64>().unwrap()
    };
    let room = DragonflyRoom::open(&server.url(), dragonfly::Options::default()).await.unwrap();
    open(&room, 8).await;
    let before = used();
    for queue in 0..10_u128 {
        let queue_window = Window { queue: format!("queue-of-a-customer-{queue}"), ..window() };
        let jobs: Vec<_> = (1..=2_000_u128)
            .map(|job| protocol::id::v7(1_790_000_000_000, (queue * 2_000 + job) << 64 | job))
            .map(|job| Enqueue { job: JobId(job), window: queue_window.clone(), ..enqueue(1) })
            .collect();
        let answers = room.enqueue(&at(4), &jobs).await.unwrap();
        assert!(answers.iter().all(|answer| answer.step.refused().is_none()));
    }
    let each = (used() - before) / 20_000;
    assert!(each * 200_000 < 64 * 1024 * 1024, "{each} bytes an entry");
}
