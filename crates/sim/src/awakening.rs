//! A worker that waits: what wakes it when the epoch changes, and how it leaves while coordination is silent. On virtual
//! time, with the rooms' wake-ups and answers held in hand.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use coordination::memory::{MemoryRoom, Options as MemoryOptions};
use coordination::{
    At, Coordination as _, CoordinationReads as _, CoordinationRoom, Enqueue, PoolConfig, Registration, Wake,
};
use durable::oracle::OracleRoom;
use durable::{Durable as _, DurableReads as _, RaiseEpoch, Submit};
use protocol::{
    ActorId, Fault, Incarnation, InstallationId, JobId, JobSpec, NoEvents, Origin, Position, Timestamp,
    Window,
};
use runtime::{Runtime, SeededRng};
use tokio::sync::broadcast;
use worker::{Rooms, Worker, WorkerOptions, WorkerParts};

use crate::core::{Core, Domain};
use crate::ports::{DomainSpawner, MachineClock};
use crate::target_room::MemoryTarget;

/// So long that what happens at a lease's thirds does not happen in these tests.
const LEASE: Duration = Duration::from_secs(3_600);

/// The embedded room, whose wake-ups go only where they are let through, and which may fall silent.
struct InHand {
    room: Arc<MemoryRoom>,
    wakes: broadcast::Sender<Wake>,
    is_silent: AtomicBool,
    /// Requests for work so far.
    reserves: AtomicUsize,
}

macro_rules! in_hand {
    ([$($extra:item)?] $port:ident {
        $($method:ident($($argument:ident: $type:ty),*) -> $value:ty;)*
    }) => {
        #[async_trait]
        impl coordination::$port for InHand {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$value, Fault> {
                if stringify!($method) == "reserve" {
                    self.reserves.fetch_add(1, Ordering::Relaxed);
                }
                if self.is_silent.load(Ordering::Relaxed) {
                    std::future::pending::<()>().await;
                }
                self.room.$method($($argument),*).await
            })*

            $($extra)?
        }
    };
}

mod room {
    use coordination::*;
    use protocol::{AttemptId, Incarnation, JobId, Stamped};

    use super::{Fault, InHand, Ordering, async_trait, broadcast};

    wire::coordination_actions!(in_hand[
        fn wakes(&self) -> broadcast::Receiver<Wake> {
            self.wakes.subscribe()
        }
    ]);
    wire::coordination_reads!(in_hand[]);
}

/// A worker beside rooms that nobody else uses.
struct Stage {
    core: Arc<Core>,
    durable: Arc<OracleRoom>,
    coordination: Arc<InHand>,
    sequence: AtomicU64,
    /// The moments at which the worker and its keeper had ended.
    ended: Arc<Mutex<Vec<Duration>>>,
    drain: Box<dyn Fn() + Send + Sync>,
}

fn window() -> Window {
    Window { queue: "default".to_owned(), kind: "k".to_owned(), priority: protocol::Priority(2) }
}

fn config(paused: &[&str]) -> PoolConfig {
    let lease_ms = u64::try_from(LEASE.as_millis()).unwrap();
    let paused: Vec<String> = paused.iter().map(|queue| (*queue).to_owned()).collect();
    PoolConfig { revision: 9, global_limit: 9, lease_ms, paused }
}

impl Stage {
    /// In epoch 1, open.
    async fn set(core: &Arc<Core>, work: &std::path::Path, paused: &[&str]) -> Self {
        let durable_core = Arc::clone(core);
        let durable = Arc::new(OracleRoom::new(Arc::new(move || {
            Timestamp(i64::try_from(durable_core.now().as_millis()).unwrap())
        })));
        let lease_ms = Some(u64::try_from(LEASE.as_millis()).unwrap());
        let change = durable::Configure { lease_ms, ..durable::Configure::default() };
        let origin = Origin { actor: ActorId(1), sequence: 1, sent_after: 0 };
        durable.configure(&origin, &change).await.unwrap();
        let room_core = Arc::clone(core);
        let clock = Arc::new(move || room_core.now());
        let room = Arc::new(MemoryRoom::new(MemoryOptions { clock, ..MemoryOptions::default() }));
        let coordination = Arc::new(InHand {
            room,
            wakes: broadcast::channel(16).0,
            is_silent: AtomicBool::new(false),
            reserves: AtomicUsize::new(0),
        });
        let domain = core.new_domain();
        let (ended, drain) = start_worker(core, domain, (&durable, &coordination), work);
        let stage =
            Self { core: Arc::clone(core), durable, coordination, sequence: AtomicU64::new(1), ended, drain };
        stage.open(1, paused).await;
        stage
    }

    fn at(&self, epoch: u64) -> At {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        At { origin: Origin { actor: ActorId(1), sequence, sent_after: sequence - 1 }, epoch }
    }

    /// Installs an epoch in coordination, and opens it.
    async fn open(&self, epoch: u64, paused: &[&str]) {
        let room = &self.coordination.room;
        room.install_epoch(epoch, InstallationId(1)).await.unwrap();
        room.configure(&self.at(epoch), &config(paused)).await.unwrap();
        room.open_epoch(&self.at(epoch)).await.unwrap();
    }

    /// Everything is lost, and rebuilt in the next epoch.
    async fn lose_and_rebuild(&self) {
        self.coordination.room.lose();
        let change = RaiseEpoch { from: 1, to: 2 };
        self.durable.raise_epoch(&self.at(0).origin, &change).await.unwrap();
        self.durable.open_epoch(&self.at(0).origin, 2).await.unwrap();
        self.open(2, &[]).await;
    }

    /// Somebody else that serves the window has registered, and a job is queued in it.
    async fn enqueue(&self, epoch: u64, job: JobId) {
        let submit =
            Submit { job, spec: JobSpec { kind: "k".to_owned(), ..JobSpec::default() }, retry_of: None };
        self.durable.submit(&self.at(epoch).origin, &[submit]).await.unwrap();
        let other = Registration {
            worker: Incarnation(77),
            name: "other".to_owned(),
            pid: 1,
            host: "h".to_owned(),
            slots: 1,
            queues: None,
            kinds: vec!["k".to_owned()],
            draining: false,
        };
        self.coordination.room.register(&self.at(epoch), &other).await.unwrap();
        let entry = Enqueue {
            job,
            window: window(),
            position: Position { due: Timestamp(0), sequence: 1 },
            checkpoint_revision: 0,
            judged: Vec::new(),
        };
        let answers = self.coordination.room.enqueue(&self.at(epoch), &[entry]).await.unwrap();
        assert!(answers[0].step.refused().is_none(), "{answers:?}");
    }

    async fn has_registered(&self) -> bool {
        let workers = self.coordination.room.workers().await.unwrap();
        workers.iter().any(|worker| worker.registration.worker == Incarnation(1))
    }

    /// Whether it has claimed this job.
    async fn has_claimed(&self, job: JobId) -> bool {
        self.durable.phases(&[job]).await.unwrap()[0]
            .as_ref()
            .is_some_and(|read| read.phase != protocol::Phase::Queued)
    }

    fn tell(&self, wake: Wake) {
        self.coordination.wakes.send(wake).unwrap();
    }

    async fn pass(&self, time: Duration) {
        self.core.sleep(time).await;
    }
}

type Ended = (Arc<Mutex<Vec<Duration>>>, Box<dyn Fn() + Send + Sync>);

fn start_worker(
    core: &Arc<Core>,
    domain: Domain,
    (durable, coordination): (&Arc<OracleRoom>, &Arc<InHand>),
    work: &std::path::Path,
) -> Ended {
    let mut options = WorkerOptions::new("w", Incarnation(1), work);
    options.kinds = vec!["k".to_owned()];
    options.poll = LEASE;
    let target_core = Arc::clone(core);
    let rooms = Rooms {
        durable: Arc::clone(durable) as Arc<dyn durable::DurableRoom>,
        coordination: Arc::clone(coordination) as Arc<dyn CoordinationRoom>,
        target: Arc::new(MemoryTarget::new(Arc::new(move || target_core.now()))),
    };
    let worker = Worker::new(WorkerParts {
        options,
        keeper_rooms: rooms.clone(),
        rooms,
        coordination_limit_ms: Arc::default(),
        runtime: Runtime {
            clock: MachineClock::new(core, Duration::from_secs(1_000), 0),
            rng: Arc::new(SeededRng::new(7)),
            spawner: Arc::new(DomainSpawner { core: Arc::clone(core), domain }),
        },
        events: NoEvents::shared(),
        programs: None,
        handlers: Vec::new(),
        handler_spawner: None,
    })
    .unwrap();
    let drain = Box::new(worker.drain_handle());
    let ended = Arc::new(Mutex::new(Vec::new()));
    let keeper: runtime::BoxFuture<()> = Box::pin(worker.keeper());
    for part in [keeper, Box::pin(worker.run())] {
        let (core_then, ended) = (Arc::clone(core), Arc::clone(&ended));
        core.spawn(
            domain,
            Box::pin(async move {
                part.await;
                ended.lock().unwrap().push(core_then.now());
            }),
        );
    }
    (ended, drain)
}

/// Runs a story with a worker in epoch 1, which has registered and found nothing to do.
fn story<F: Future<Output = ()> + Send + 'static>(
    paused: &'static [&'static str],
    tell: impl FnOnce(Stage) -> F + Send + 'static,
) {
    let core = Core::new(1);
    let work = tempfile::tempdir().unwrap();
    let (inner, path) = (Arc::clone(&core), work.path().to_owned());
    core.run(Box::pin(async move {
        let stage = Stage::set(&inner, &path, paused).await;
        // The worker begins, and listens.
        stage.pass(Duration::from_millis(1)).await;
        stage.tell(Wake::Epoch);
        stage.pass(Duration::from_secs(5)).await;
        assert!(stage.has_registered().await);
        tell(stage).await;
    }))
    .unwrap();
}

#[test]
fn a_worker_adopts_the_next_epoch_when_it_is_woken_for_it() {
    story(&[], |stage| async move {
        stage.lose_and_rebuild().await;
        stage.pass(Duration::from_secs(60)).await;
        assert!(!stage.has_registered().await, "nobody has told it, and it renews every third of a lease");
        stage.tell(Wake::Epoch);
        stage.pass(Duration::from_secs(1)).await;
        assert!(stage.has_registered().await);
    });
}

#[test]
fn a_worker_that_was_refused_as_stale_asks_again_when_it_has_adopted_the_next_epoch() {
    story(&["default"], |stage| async move {
        // A paused queue's window stays known; nobody is woken when it is filled again.
        stage.enqueue(1, JobId(1)).await;
        stage.tell(Wake::Queued(window()));
        stage.pass(Duration::from_secs(1)).await;
        assert_eq!(stage.coordination.reserves.load(Ordering::Relaxed), 1, "refused: the queue is paused");
        stage.lose_and_rebuild().await;
        stage.enqueue(2, JobId(2)).await;
        stage.tell(Wake::Freed);
        stage.pass(Duration::from_secs(1)).await;
        assert!(stage.has_claimed(JobId(2)).await);
    });
}

#[test]
fn an_idle_worker_leaves_within_a_moment_also_while_coordination_is_silent() {
    story(&[], |stage| async move {
        stage.coordination.is_silent.store(true, Ordering::Relaxed);
        stage.tell(Wake::Epoch);
        stage.pass(Duration::from_secs(30)).await;
        let told = stage.core.now();
        (stage.drain)();
        stage.pass(Duration::from_secs(60)).await;
        let ended = stage.ended.lock().unwrap().clone();
        assert_eq!(ended.len(), 2, "the worker and its keeper");
        for ended in ended {
            assert!(ended - told <= Duration::from_secs(3), "{:?} after it was told", ended - told);
        }
    });
}
