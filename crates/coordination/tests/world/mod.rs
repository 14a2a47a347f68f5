//! A pool on a server of its own, by the server's own clock, and short ways to ask it.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use protocol::{
    ActorId, AttemptId, Fault, Guard, Incarnation, JobId, Origin, Position, Priority, ReservationId, Token,
    Window,
};
use remora_coordination::dragonfly::{DragonflyRoom, Options};
use remora_coordination::*;
use testbed::Redis;
use tokio::sync::broadcast::Receiver;

/// The lease length of these tests: long enough for a busy machine, short enough to wait for.
pub(crate) const LEASE_MS: u64 = 3_000;
const WORKER: Incarnation = Incarnation(1);

pub(crate) struct World<S = Redis, R = DragonflyRoom> {
    pub(crate) server: S,
    pub(crate) room: R,
    epoch: AtomicU64,
    sequence: AtomicU64,
}

fn window() -> Window {
    Window { queue: "q".to_owned(), kind: "k".to_owned(), priority: Priority(2) }
}

/// Waits for a wake-up, whatever else comes before it.
pub(crate) async fn arrives(wakes: &mut Receiver<Wake>, wanted: impl Fn(&Wake) -> bool) {
    let wait = async { while !wanted(&wakes.recv().await.unwrap()) {} };
    tokio::time::timeout(Duration::from_secs(20), wait).await.expect("it comes");
}

impl World {
    pub(crate) async fn open(server: Redis) -> Self {
        let url = server.url();
        Self::open_at(server, &url).await
    }

    /// Opens epoch 1 with ten places and a worker.
    pub(crate) async fn open_at(server: Redis, url: &str) -> Self {
        Self::over(server, DragonflyRoom::open(url, Options::default()).await.unwrap()).await
    }
}

impl<S, R: CoordinationRoom> World<S, R> {
    /// Opens epoch 1 with ten places and a worker.
    pub(crate) async fn over(server: S, room: R) -> Self {
        let world = Self { server, room, epoch: AtomicU64::new(1), sequence: AtomicU64::new(0) };
        world.install(1).await;
        world
    }

    pub(crate) fn at(&self) -> At {
        let sequence = self.sequence.fetch_add(1, Ordering::SeqCst) + 1;
        let origin = Origin { actor: ActorId(1), sequence, sent_after: sequence - 1 };
        At { origin, epoch: self.epoch.load(Ordering::SeqCst) }
    }

    pub(crate) async fn install_only(&self, epoch: u64) {
        self.room.install_epoch(epoch, protocol::InstallationId(1)).await.unwrap();
    }

    pub(crate) async fn open_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::SeqCst);
        assert!(self.room.open_epoch(&self.at()).await.unwrap().step.taken().is_some());
    }

    pub(crate) async fn configure(&self, revision: u64, lease_ms: u64) {
        let config = PoolConfig { revision, global_limit: 10, lease_ms, paused: Vec::new() };
        self.room.configure(&self.at(), &config).await.unwrap();
    }

    pub(crate) async fn install(&self, epoch: u64) {
        self.install_only(epoch).await;
        self.epoch.store(epoch, Ordering::SeqCst);
        self.configure(1, LEASE_MS).await;
        self.open_epoch(epoch).await;
        self.register().await;
    }

    /// The worker lives: who is silent for two lease lengths is forgotten.
    pub(crate) async fn register(&self) {
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
        self.room.register(&self.at(), &worker).await.unwrap();
    }

    pub(crate) async fn enqueue(&self, job: u128) -> Result<Option<Guard>, Fault> {
        let position = Position { sequence: u64::try_from(job).unwrap(), ..Position::default() };
        let request = Enqueue {
            job: JobId(job),
            window: window(),
            position,
            checkpoint_revision: 0,
            judged: Vec::new(),
        };
        Ok(self.room.enqueue(&self.at(), &[request]).await?[0].step.refused())
    }

    pub(crate) async fn reserve(&self, id: u128) -> Option<Guard> {
        let request =
            Reserve { worker: WORKER, reservations: vec![ReservationId(id)], windows: vec![window()] };
        self.room.reserve(&self.at(), &request).await.unwrap()[0].step.refused()
    }

    pub(crate) async fn activate(&self, id: u128) -> Option<Guard> {
        let request = ActivateAttempt {
            job: JobId(id),
            attempt: AttemptId(id),
            token: Token(1),
            reservation: ReservationId(id),
            worker: WORKER,
            judged: Vec::new(),
        };
        self.room.activate_attempt(&self.at(), &[request]).await.unwrap()[0].step.refused()
    }

    /// Brings a job to a live lease: its attempt and reservation have the job's number.
    pub(crate) async fn execute(&self, job: u128) {
        assert_eq!(self.enqueue(job).await.unwrap(), None);
        assert_eq!(self.reserve(job).await, None);
        assert_eq!(self.activate(job).await, None);
    }

    pub(crate) async fn try_renew(&self, job: u128) -> Result<Option<Guard>, Fault> {
        let request = RenewLease { job: JobId(job), attempt: AttemptId(job), worker: WORKER };
        Ok(self.room.renew_lease(&self.at(), &[request]).await?[0].step.refused())
    }

    pub(crate) async fn release(&self, job: u128) -> Option<Guard> {
        let request = ReleaseLease { job: JobId(job), attempt: AttemptId(job), judged: Vec::new() };
        self.room.release_lease(&self.at(), &[request]).await.unwrap()[0].step.refused()
    }

    pub(crate) async fn restore(&self, job: u128) -> Option<Guard> {
        let request = RestoreLease {
            job: JobId(job),
            attempt: AttemptId(job),
            token: Token(1),
            worker: WORKER,
            judged: Vec::new(),
        };
        self.room.restore_lease(&self.at(), &[request]).await.unwrap()[0].step.refused()
    }

    /// The pool, as soon as there is an answer: whoever asks after a fault asks again.
    pub(crate) async fn pool_when_it_answers(&self) -> PoolState {
        let ask = async {
            loop {
                if let Ok(state) = self.room.pool().await {
                    return state;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), ask).await.expect("the server answers again")
    }
}

impl<S, R: CoordinationRoom> World<S, R> {
    /// Jobs pass through, ten at a time: enqueued, reserved, activated, renewed, released.
    pub(crate) async fn cycle(&self, jobs: &[u128]) {
        self.register().await;
        let at = self.at();
        let enqueue = |job: &u128| Enqueue {
            job: JobId(*job),
            window: window(),
            position: Position { sequence: u64::try_from(*job).unwrap(), ..Position::default() },
            checkpoint_revision: 0,
            judged: Vec::new(),
        };
        let batch: Vec<_> = jobs.iter().map(enqueue).collect();
        assert!(self.room.enqueue(&at, &batch).await.unwrap().iter().all(|one| one.step.refused().is_none()));
        for some in jobs.chunks(10) {
            let reservations = some.iter().map(|id| ReservationId(*id)).collect();
            let reserve = Reserve { worker: WORKER, reservations, windows: vec![window()] };
            self.room.reserve(&at, &reserve).await.unwrap();
            let activate = |id: &u128| ActivateAttempt {
                job: JobId(*id),
                attempt: AttemptId(*id),
                token: Token(1),
                reservation: ReservationId(*id),
                worker: WORKER,
                judged: Vec::new(),
            };
            let batch: Vec<_> = some.iter().map(activate).collect();
            self.room.activate_attempt(&at, &batch).await.unwrap();
            let renew = |id: &u128| RenewLease { job: JobId(*id), attempt: AttemptId(*id), worker: WORKER };
            let batch: Vec<_> = some.iter().map(renew).collect();
            self.room.renew_lease(&at, &batch).await.unwrap();
            let release =
                |id: &u128| ReleaseLease { job: JobId(*id), attempt: AttemptId(*id), judged: Vec::new() };
            let batch: Vec<_> = some.iter().map(release).collect();
            let released = self.room.release_lease(&at, &batch).await.unwrap();
            assert!(released.iter().all(|one| one.step.refused().is_none()));
        }
    }
}
