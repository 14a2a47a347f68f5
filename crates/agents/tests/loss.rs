//! What the agents do when coordination is lost again, or an old state of it comes back (protocol rule 9).
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use coordination::memory::{self, MemoryRoom};
use coordination::oracle::OracleRoom as LawOfCoordination;
use coordination::{ActivateAttempt, At, Coordination as _, CoordinationRoom, Enqueue};
use coordination::{PoolState, Registration, Reserve, RestoreLease};
use durable::oracle::OracleRoom;
use durable::{AuthorizeAttempt, Durable as _, DurableReads as _, RaiseEpoch, Submit};
use protocol::{
    ActorId, AttemptId, Guard, Incarnation, InstallationId, JobId, JobSpec, Origin, Position, ReservationId,
    Timestamp, Token,
};
use remora_agents::{Agent as _, AgentRooms, EpochKeeper, Ground, Reaper};
use runtime::{Clock, Runtime, SeededRng, TokioSpawner};
use target::file::FileTarget;

const ORIGIN: Origin = Origin { actor: ActorId(7), sequence: 1, sent_after: 0 };
const JOB: JobId = JobId(1);
const WORKER: Incarnation = Incarnation(9);
const ATTEMPT: AttemptId = AttemptId(2);

#[derive(Default)]
struct StillClock(AtomicU64);

impl StillClock {
    fn advance(&self, by: Duration) {
        self.0.fetch_add(u64::try_from(by.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for StillClock {
    fn boottime(&self) -> Duration {
        Duration::from_millis(1_000 + self.0.load(Ordering::SeqCst))
    }

    fn unix_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    async fn sleep(&self, _: Duration) {}
}

struct Pool {
    durable: Arc<OracleRoom>,
    clock: Arc<StillClock>,
    folder: tempfile::TempDir,
    seed: Mutex<u64>,
}

impl Pool {
    fn new() -> Self {
        Self {
            durable: Arc::new(OracleRoom::new(Arc::new(|| Timestamp(1_000)))),
            clock: Arc::default(),
            folder: tempfile::tempdir().unwrap(),
            seed: Mutex::new(0),
        }
    }

    /// A process of agents.
    fn ground(&self, coordination: &Arc<impl CoordinationRoom + 'static>) -> Arc<Ground> {
        let mut seed = self.seed.lock().unwrap();
        *seed += 1;
        let runtime = Runtime {
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            rng: Arc::new(SeededRng::new(*seed)),
            spawner: Arc::new(TokioSpawner),
        };
        let rooms = AgentRooms {
            durable: Arc::clone(&self.durable) as _,
            coordination: Arc::clone(coordination) as _,
            target: Arc::new(FileTarget::new(self.folder.path())),
        };
        Ground::new(rooms, runtime)
    }

    /// Passes until coordination is open; which epochs it held after each.
    async fn repair(&self, keeper: &EpochKeeper, room: &impl CoordinationRoom) -> Vec<u64> {
        let mut held = Vec::new();
        for _ in 0..200 {
            keeper.pass().await.unwrap();
            let state = room.pool().await.unwrap();
            held.push(state.mark.epoch);
            if state.open && self.durable.pool().await.unwrap().open {
                return held;
            }
            self.clock.advance(Duration::from_millis(50));
        }
        panic!("it never opens: {held:?}");
    }
}

fn at(epoch: u64) -> At {
    At { origin: ORIGIN, epoch }
}

/// A job that runs under the claim of a worker.
async fn claim(pool: &Pool, epoch: u64) {
    let submit =
        Submit { job: JOB, spec: JobSpec { kind: "k".to_owned(), ..JobSpec::default() }, retry_of: None };
    pool.durable.submit(&ORIGIN, &[submit]).await.unwrap();
    let claim = AuthorizeAttempt {
        job: JOB,
        attempt: ATTEMPT,
        worker: WORKER,
        reservation: ReservationId(3),
        epoch,
        checkpoint_revision: 0,
        judged: Vec::new(),
    };
    let answers = pool.durable.authorize_attempt(&ORIGIN, &[claim]).await.unwrap();
    assert!(answers[0].step.refused().is_none());
}

async fn restore(room: &impl CoordinationRoom, epoch: u64) -> Option<Guard> {
    let lease =
        RestoreLease { job: JOB, attempt: ATTEMPT, token: Token(1), worker: WORKER, judged: Vec::new() };
    room.restore_lease(&at(epoch), &[lease]).await.unwrap()[0].step.refused()
}

async fn state(room: &impl CoordinationRoom) -> PoolState {
    room.pool().await.unwrap()
}

#[tokio::test]
async fn what_is_lost_while_it_opens_is_not_installed_again_by_who_installed_it() {
    let pool = Pool::new();
    let room = Arc::new(LawOfCoordination::new(Arc::new(|| Duration::ZERO)));
    let keeper = EpochKeeper::new(pool.ground(&room));
    keeper.pass().await.unwrap();
    keeper.pass().await.unwrap();
    let held = state(room.as_ref()).await;
    assert_eq!((held.mark.epoch, held.open), (2, false), "raised and installed");
    room.lose();
    let held = pool.repair(&keeper, room.as_ref()).await;
    assert!(held.iter().all(|epoch| *epoch != 2), "{held:?}");
    assert_eq!(held.last(), Some(&3));
}

#[tokio::test]
async fn what_is_lost_while_it_opens_is_not_installed_again_by_who_had_not_seen_it() {
    let pool = Pool::new();
    let room = Arc::new(LawOfCoordination::new(Arc::new(|| Duration::ZERO)));
    claim(&pool, 1).await;
    // Another process raises the epoch, installs it and dies; a worker has put its lease back.
    pool.durable.raise_epoch(&ORIGIN, &RaiseEpoch { from: 1, to: 2 }).await.unwrap();
    room.install_epoch(2, InstallationId(1)).await.unwrap();
    restore(room.as_ref(), 2).await;
    room.lose();
    let keeper = EpochKeeper::new(pool.ground(&room));
    let held = pool.repair(&keeper, room.as_ref()).await;
    assert!(
        held.iter().all(|epoch| *epoch != 2),
        "a worker would take its lease of 2 for a current one: {held:?}"
    );
    assert_eq!(held.last(), Some(&3));
    assert_eq!(state(room.as_ref()).await.unaccounted, 1, "what runs is accounted for");
}

#[tokio::test]
async fn an_epoch_whose_raiser_died_before_it_was_installed_is_raised_over() {
    let pool = Pool::new();
    let room = Arc::new(LawOfCoordination::new(Arc::new(|| Duration::ZERO)));
    pool.durable.raise_epoch(&ORIGIN, &RaiseEpoch { from: 1, to: 2 }).await.unwrap();
    let keeper = EpochKeeper::new(pool.ground(&room));
    let held = pool.repair(&keeper, room.as_ref()).await;
    let waited = held.iter().filter(|epoch| **epoch == 0).count();
    assert!((20..30).contains(&waited), "its raiser is given a second: {held:?}");
}

#[tokio::test]
async fn an_installed_epoch_is_helped_by_everybody() {
    let pool = Pool::new();
    let room = Arc::new(LawOfCoordination::new(Arc::new(|| Duration::ZERO)));
    claim(&pool, 1).await;
    pool.durable.raise_epoch(&ORIGIN, &RaiseEpoch { from: 1, to: 2 }).await.unwrap();
    room.install_epoch(2, InstallationId(1)).await.unwrap();
    let keeper = EpochKeeper::new(pool.ground(&room));
    assert_eq!(pool.repair(&keeper, room.as_ref()).await, [2]);
    assert_eq!(state(room.as_ref()).await.unaccounted, 1);
}

#[tokio::test]
async fn what_runs_is_accounted_for_also_where_the_durable_room_calls_the_epoch_open() {
    let pool = Pool::new();
    let room = Arc::new(LawOfCoordination::new(Arc::new(|| Duration::ZERO)));
    claim(&pool, 1).await;
    // A late copy of the request that installed an epoch, after that epoch was lost.
    room.install_epoch(1, InstallationId(1)).await.unwrap();
    let keeper = EpochKeeper::new(pool.ground(&room));
    assert_eq!(pool.repair(&keeper, room.as_ref()).await, [1]);
    assert_eq!(state(room.as_ref()).await.unaccounted, 1);
}

#[tokio::test]
async fn the_embedded_room_does_not_install_a_lost_epoch_again() {
    let room = MemoryRoom::new(memory::Options::default());
    room.install_epoch(2, InstallationId(1)).await.unwrap();
    room.lose();
    assert_eq!(room.install_epoch(2, InstallationId(1)).await.unwrap().mark.epoch, 0);
    assert_eq!(room.install_epoch(3, InstallationId(1)).await.unwrap().mark.epoch, 3);
}

/// An embedded room with one job that executes, and what it held before that.
async fn executing(pool: &Pool) -> (Arc<MemoryRoom>, memory::Backup, Arc<Ground>) {
    let room = Arc::new(MemoryRoom::new(memory::Options::default()));
    let ground = pool.ground(&room);
    let keeper = EpochKeeper::new(Arc::clone(&ground));
    let epoch = pool.repair(&keeper, room.as_ref()).await.pop().unwrap();
    keeper.pass().await.unwrap();
    let spec = JobSpec { kind: "k".to_owned(), ..JobSpec::default() };
    let window = spec.window();
    claim(pool, epoch).await;
    let registration = Registration {
        worker: WORKER,
        name: "w".to_owned(),
        pid: 1,
        host: "h".to_owned(),
        slots: 1,
        queues: None,
        kinds: vec!["k".to_owned()],
        draining: false,
    };
    room.register(&at(epoch), &registration).await.unwrap();
    let before = room.snapshot();
    let entry = Enqueue {
        job: JOB,
        window: window.clone(),
        position: Position::default(),
        checkpoint_revision: 0,
        judged: Vec::new(),
    };
    room.enqueue(&at(epoch), &[entry]).await.unwrap();
    let reserve = Reserve { worker: WORKER, reservations: vec![ReservationId(3)], windows: vec![window] };
    room.reserve(&at(epoch), &reserve).await.unwrap();
    let activate = ActivateAttempt {
        job: JOB,
        attempt: ATTEMPT,
        token: Token(1),
        reservation: ReservationId(3),
        worker: WORKER,
        judged: Vec::new(),
    };
    let answers = room.activate_attempt(&at(epoch), &[activate]).await.unwrap();
    assert!(answers[0].step.refused().is_none());
    (room, before, ground)
}

#[tokio::test]
async fn the_reaper_judges_nothing_from_an_old_state_that_came_back() {
    let pool = Pool::new();
    let (room, before, ground) = executing(&pool).await;
    let reaper = Reaper::new(Arc::clone(&ground));
    reaper.pass().await.unwrap();
    room.restore(&before);
    reaper.pass().await.unwrap();
    reaper.pass().await.unwrap();
    assert_eq!(pool.durable.running(None, 9).await.unwrap().len(), 1, "its worker executes it");
    // The next look of the epoch keeper finds that the epoch has ended, however far the old state has gone on.
    let old = state(room.as_ref()).await.mark;
    for job in 10..40 {
        room.enqueue(
            &at(old.epoch),
            &[Enqueue {
                job: JobId(job),
                window: JobSpec { kind: "k".to_owned(), ..JobSpec::default() }.window(),
                position: Position::default(),
                checkpoint_revision: 0,
                judged: Vec::new(),
            }],
        )
        .await
        .unwrap();
    }
    let keeper = EpochKeeper::new(ground);
    let held = pool.repair(&keeper, room.as_ref()).await;
    assert_eq!(state(room.as_ref()).await.mark.epoch, old.epoch + 1, "{held:?}");
}

#[tokio::test]
async fn the_reaper_judges_from_what_goes_on() {
    let pool = Pool::new();
    let (room, _, ground) = executing(&pool).await;
    let reaper = Reaper::new(ground);
    reaper.pass().await.unwrap();
    assert_eq!(pool.durable.running(None, 9).await.unwrap().len(), 1);
    let epoch = room.epoch();
    let release = coordination::ReleaseLease { job: JOB, attempt: ATTEMPT, judged: Vec::new() };
    room.release_lease(&at(epoch), &[release]).await.unwrap();
    reaper.pass().await.unwrap();
    assert_eq!(pool.durable.running(None, 9).await.unwrap().len(), 0);
}
