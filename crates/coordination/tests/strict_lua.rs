//! Every script under real Lua 5.4 with a strict `redis.call`: the whole suite, walks beside the law, and the same with
//! memory that ends at one call of every script.
#![cfg(all(feature = "dragonfly", feature = "walks"))]
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod strict {
    pub(crate) mod lua;
    pub(crate) mod store;
    pub(crate) mod truth;
}

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use protocol::{
    ActorId, AttemptId, FaultKind, Incarnation, JobId, Origin, Position, Priority, ReservationId, Token,
    Window,
};
use remora_coordination::conformance::Fixture;
use remora_coordination::conformance::walk::{Adapter, beside_the_law};
use remora_coordination::dragonfly::{DragonflyRoom, Options};
use remora_coordination::*;
use strict::lua::{Memory, Strict};

struct OnLua {
    room: Arc<DragonflyRoom>,
    clock_ms: Arc<AtomicU64>,
}

fn over(link: Arc<Strict>) -> OnLua {
    let clock_ms = Arc::new(AtomicU64::new(1_000_000));
    let clock = Arc::clone(&clock_ms);
    let options = Options {
        clock: Some(Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst)))),
        ..Options::default()
    };
    OnLua { room: Arc::new(DragonflyRoom::with_link(link, "default", options)), clock_ms }
}

#[async_trait]
impl Fixture for OnLua {
    fn room(&self) -> Arc<dyn CoordinationRoom> {
        self.room.clone()
    }

    async fn advance(&self, by: Duration) {
        self.clock_ms.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }

    async fn lose(&self) {
        self.room.lose().await.expect("an answer");
    }
}

mod with_enough_memory {
    use super::*;

    async fn fresh() -> OnLua {
        over(Arc::new(Strict::new(Memory::Enough)))
    }

    remora_coordination::conformance!(fresh);
}

mod with_memory_that_ends_in_every_script {
    use super::*;

    async fn fresh() -> OnLua {
        over(Arc::new(Strict::new(Memory::EndsOnce)))
    }

    remora_coordination::conformance!(fresh);
}

struct Plain;
struct Ending;

/// What memory ended in all walks together.
static ENDED: std::sync::Mutex<Vec<Arc<Strict>>> = std::sync::Mutex::new(Vec::new());

#[async_trait]
impl Adapter for Plain {
    async fn fresh() -> Box<dyn Fixture> {
        Box::new(over(Arc::new(Strict::new(Memory::Enough))))
    }
}

#[async_trait]
impl Adapter for Ending {
    async fn fresh() -> Box<dyn Fixture> {
        let link = Arc::new(Strict::new(Memory::EndsOnce));
        ENDED.lock().unwrap().push(Arc::clone(&link));
        Box::new(over(link))
    }
}

#[test]
fn under_lua_5_4_a_walk_is_answered_as_the_law_does() {
    beside_the_law::<Plain>(3);
}

#[test]
fn a_script_that_memory_ended_half_way_and_that_is_asked_again_answers_as_the_law_does() {
    beside_the_law::<Ending>(5);
    let ended: BTreeSet<_> = ENDED.lock().unwrap().iter().flat_map(|link| link.ended().into_keys()).collect();
    for name in [
        "enqueue",
        "reserve",
        "activate_attempt",
        "restore_lease",
        "report_progress",
        "publish_cancel_notice",
    ] {
        assert!(ended.contains(name), "memory never ended in {name}: {ended:?}");
    }
}

const WORKER: Incarnation = Incarnation(1);

fn at() -> At {
    static SEQUENCE: AtomicU64 = AtomicU64::new(0);
    let sequence = SEQUENCE.fetch_add(1, Ordering::SeqCst);
    At { origin: Origin { actor: ActorId(1), sequence, sent_after: sequence }, epoch: 1 }
}

fn window() -> Window {
    Window { queue: "q".to_owned(), kind: "k".to_owned(), priority: Priority(2) }
}

async fn open(room: &DragonflyRoom) {
    room.install_epoch(1, protocol::InstallationId(1)).await.unwrap();
    let config = PoolConfig { revision: 1, global_limit: 9, lease_ms: 3_000, paused: Vec::new() };
    room.configure(&at(), &config).await.unwrap();
    room.open_epoch(&at()).await.unwrap();
    let worker = Registration {
        worker: WORKER,
        name: "w".to_owned(),
        pid: 1,
        host: "h".to_owned(),
        slots: 1,
        queues: None,
        kinds: vec!["k".to_owned()],
        draining: false,
    };
    room.register(&at(), &worker).await.unwrap();
}

fn enqueue(job: u128) -> Enqueue {
    let position = Position { sequence: 1, ..Position::default() };
    Enqueue { job: JobId(job), window: window(), position, checkpoint_revision: 0, judged: Vec::new() }
}

fn reserve(id: u128) -> Reserve {
    Reserve { worker: WORKER, reservations: vec![ReservationId(id)], windows: vec![window()] }
}

fn activate(id: u128) -> ActivateAttempt {
    ActivateAttempt {
        job: JobId(id),
        attempt: AttemptId(id),
        token: Token(1),
        reservation: ReservationId(id),
        worker: WORKER,
        judged: Vec::new(),
    }
}

#[tokio::test]
async fn a_full_memory_refuses_new_work_and_lets_running_work_be_renewed_and_ended() {
    let link = Arc::new(Strict::new(Memory::Enough));
    let OnLua { room, clock_ms } = over(Arc::clone(&link));
    open(&room).await;
    for job in [1, 2] {
        room.enqueue(&at(), &[enqueue(job)]).await.unwrap();
        room.reserve(&at(), &reserve(job)).await.unwrap();
    }
    room.activate_attempt(&at(), &[activate(1)]).await.unwrap();
    clock_ms.fetch_add(3_500, Ordering::SeqCst);
    room.pool().await.unwrap();

    link.memory(Memory::Full);
    let before = link.snapshot();
    let fault = room.enqueue(&at(), &[enqueue(3)]).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Ambiguous);
    assert_eq!(link.snapshot().len(), before.len(), "nothing that anybody sees");
    let renew = RenewLease { job: JobId(1), attempt: AttemptId(1), worker: WORKER };
    assert!(room.renew_lease(&at(), &[renew]).await.unwrap()[0].step.refused().is_none());
    let renewed = room.pool().await.unwrap();
    assert_eq!((renewed.leases, renewed.reservations), (1, 1));
    let back = HandBack { job: JobId(2), reservation: ReservationId(2), worker: WORKER };
    assert!(room.renew_reservation(&at(), &[back]).await.unwrap()[0].step.refused().is_none());
    assert!(room.claim_refused(&at(), &[back]).await.unwrap()[0].step.refused().is_none());
    let release = ReleaseLease { job: JobId(1), attempt: AttemptId(1), judged: Vec::new() };
    assert!(room.release_lease(&at(), &[release]).await.unwrap()[0].step.refused().is_none());
    let ended = room.pool().await.unwrap();
    assert_eq!((ended.leases, ended.reservations), (0, 0));
    assert_eq!(room.holdings(None, 9).await.unwrap().jobs, []);

    link.memory(Memory::Enough);
    assert!(room.enqueue(&at(), &[enqueue(3)]).await.unwrap()[0].step.refused().is_none(), "and goes on");
}

#[tokio::test]
async fn what_one_request_costs_does_not_grow_with_what_is_held() {
    let link = Arc::new(Strict::new(Memory::Enough));
    let OnLua { room, .. } = over(Arc::clone(&link));
    open(&room).await;
    let mut cost = Vec::new();
    for round in 0..3_u128 {
        let jobs: Vec<_> = (0..60).map(|job| enqueue(round * 100 + job + 1)).collect();
        room.enqueue(&at(), &jobs).await.unwrap();
        let answer = room.reserve(&at(), &reserve(round + 1)).await.unwrap().remove(0);
        let job = answer.step.taken().unwrap().job;
        let activate = ActivateAttempt { job, ..activate(round + 1) };
        room.activate_attempt(&at(), &[activate]).await.unwrap();
        cost.push((link.calls("reserve"), link.calls("activate_attempt")));
    }
    assert!(cost.iter().all(|one| *one == cost[0]), "{cost:?}");
    assert!(cost[0].0 <= 30 && cost[0].1 <= 30, "{cost:?}");
}

#[tokio::test]
async fn whoever_opens_an_epoch_leaves_no_key_of_an_older_one() {
    let link = Arc::new(Strict::new(Memory::Enough));
    let OnLua { room, .. } = over(Arc::clone(&link));
    open(&room).await;
    room.install_epoch(2, protocol::InstallationId(1)).await.unwrap();
    room.open_epoch(&At { epoch: 2, ..at() }).await.unwrap();
    let keys = link.snapshot();
    assert!(keys.iter().all(|key| !key.contains(":1:")), "the older epoch's keys are gone: {keys:?}");
}
