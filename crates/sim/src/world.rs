//! A world: three rooms, a network, machines with workers, two replicas of the agents, one client.
//!
//! Promises: whatever starts here starts from the seed; a machine keeps its clock, its disk and its links over the starts
//! of its worker. Does not judge: `checks` does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agents::{AgentRooms, CleanerOptions, Ground, run_all};
use coordination::CoordinationRoom;
use coordination::memory::{MemoryRoom, Options as MemoryOptions};
use durable::oracle::OracleRoom;
use durable::{Configure, Durable, DurableRoom};
use protocol::{ActorId, EventSink, Incarnation, JobId, Origin, Timestamp};
use runtime::{BoxFuture, Rng, Runtime, SeededRng};
use target::Target;
use tokio::sync::watch;
use worker::{Rooms, Worker, WorkerOptions, WorkerParts};

use crate::core::{Core, Domain, WORLD};
use crate::durable_room::{Published, RecordedRoom};
use crate::jobs::{Executing, Story};
use crate::link::{CoordinationLink, DurableLink, Network, Path, Service, TargetLink, Wire, carry_wakes};
use crate::now::now;
use crate::plan::{Options, Plan, Who, chance};
use crate::planted;
use crate::ports::{DomainSpawner, EPOCH_MS, MachineClock};
use crate::record::{Point, Record};
use crate::target_room::MemoryTarget;

/// Replicas of the agents.
pub(crate) const REPLICAS: usize = 2;
/// Stages that nobody asked to sweep are looked at when older than this.
const STAGE_TTL: Duration = Duration::from_secs(60);
/// Coordination's clock has gone for so long when a world begins.
const CLOCK_BEGAN: Duration = Duration::from_secs(3_600);

/// The rooms as everybody reaches them: with a fault put in, where one is asked for.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) durable: Arc<dyn DurableRoom>,
    pub(crate) coordination: Arc<dyn CoordinationRoom>,
    pub(crate) target: Arc<dyn Target>,
}

/// A machine: what outlives its process.
pub(crate) struct Machine {
    wires: [Arc<Wire>; 3],
    pub(crate) clock: Arc<MachineClock>,
    live: Mutex<Option<Live>>,
    starts: AtomicU64,
}

/// A process.
struct Live {
    domain: Domain,
    start: u32,
    drain: Option<Box<dyn Fn() + Send + Sync>>,
    shutdown: Option<watch::Sender<bool>>,
}

impl Machine {
    fn new(core: &Arc<Core>, booted: Duration, drift_ppm: i32) -> Self {
        Self {
            wires: Default::default(),
            clock: MachineClock::new(core, booted, drift_ppm),
            live: Mutex::default(),
            starts: AtomicU64::new(0),
        }
    }

    pub(crate) fn wire(&self, service: Service) -> &Arc<Wire> {
        match service {
            Service::Durable => &self.wires[0],
            Service::Coordination => &self.wires[1],
            Service::Target => &self.wires[2],
        }
    }

    fn live(&self) -> MutexGuard<'_, Option<Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its process, if it has one.
    pub(crate) fn domain(&self) -> Option<(Domain, u32)> {
        self.live().as_ref().map(|live| (live.domain, live.start))
    }

    fn next_start(&self) -> u32 {
        u32::try_from(self.starts.fetch_add(1, Ordering::Relaxed)).unwrap_or(u32::MAX)
    }
}

/// See the module.
pub(crate) struct World {
    pub(crate) core: Arc<Core>,
    pub(crate) plan: Plan,
    pub(crate) jobs: Arc<Vec<crate::jobs::JobPlan>>,
    pub(crate) record: Arc<Record>,
    pub(crate) executing: Arc<Executing>,
    pub(crate) durable: Arc<RecordedRoom>,
    pub(crate) coordination: Arc<MemoryRoom>,
    pub(crate) target: Arc<MemoryTarget>,
    pub(crate) shared: Shared,
    pub(crate) network: Arc<Network>,
    pub(crate) workers: Vec<Machine>,
    pub(crate) agents: Vec<Machine>,
    pub(crate) client: Machine,
    ids: SeededRng,
    work: PathBuf,
    /// How far the stores' clocks have been set, in milliseconds.
    pub(crate) durable_step_ms: Arc<AtomicI64>,
    pub(crate) coordination_step_ms: Arc<AtomicI64>,
    pub(crate) names: Mutex<BTreeMap<ActorId, String>>,
    pub(crate) submitted: Mutex<BTreeMap<usize, JobId>>,
    /// Cancels that were acknowledged.
    pub(crate) cancelled: Mutex<BTreeSet<JobId>>,
}

/// The durable room, with the pool's configuration.
fn durable_room(
    core: &Arc<Core>,
    published: Published,
    plan: &Plan,
    step_ms: &Arc<AtomicI64>,
) -> RecordedRoom {
    let (core, step_ms) = (Arc::clone(core), Arc::clone(step_ms));
    let clock = move || {
        let now = i64::try_from(core.now().as_millis()).unwrap_or(i64::MAX);
        Timestamp(i64::try_from(EPOCH_MS).unwrap_or(0) + now + step_ms.load(Ordering::Relaxed))
    };
    let room = OracleRoom::new(Arc::new(clock));
    let change = Configure {
        global_limit: Some(plan.global_limit),
        lease_ms: Some(plan.lease_ms),
        ..Configure::default()
    };
    let origin = Origin { actor: ActorId(0), sequence: 1, sent_after: 0 };
    now(room.configure(&origin, &change)).expect("the plan's numbers are in range");
    RecordedRoom { room, published }
}

fn coordination_room(core: &Arc<Core>, events: Arc<dyn EventSink>, step_ms: &Arc<AtomicI64>) -> MemoryRoom {
    let (core, step_ms) = (Arc::clone(core), Arc::clone(step_ms));
    let clock = move || {
        let now = i64::try_from((CLOCK_BEGAN + core.now()).as_millis()).unwrap_or(i64::MAX);
        Duration::from_millis(u64::try_from(now + step_ms.load(Ordering::Relaxed)).unwrap_or(0))
    };
    MemoryRoom::new(MemoryOptions { clock: Arc::new(clock), events, ..MemoryOptions::default() })
}

impl World {
    pub(crate) fn new(seed: u64, options: &Options, work: PathBuf) -> Arc<Self> {
        let plan = Plan::new(seed, options);
        let ids = SeededRng::new(seed ^ 0x5eed);
        let core = Core::new(ids.next_u64());
        let record = Record::new(&core);
        let (durable_step_ms, coordination_step_ms) = (Arc::default(), Arc::default());
        let inner = Arc::clone(&core);
        let target = Arc::new(MemoryTarget::new(Arc::new(move || inner.now())));
        let published = Published { target: Arc::clone(&target), record: Arc::clone(&record) };
        let durable = Arc::new(durable_room(&core, published, &plan, &durable_step_ms));
        let coordination = Arc::new(coordination_room(
            &core,
            Arc::clone(&record) as Arc<dyn EventSink>,
            &coordination_step_ms,
        ));
        let shared = Shared {
            durable: Arc::clone(&durable) as Arc<dyn DurableRoom>,
            coordination: Arc::clone(&coordination) as Arc<dyn CoordinationRoom>,
            target: Arc::clone(&target) as Arc<dyn Target>,
        };
        let shared = planted::plant(options.planted, shared, &core);
        let network = Network::new(&core, &record, chance(seed, 3), plan.noise);
        let machine = |booted_s: u64, drift: i32| Machine::new(&core, Duration::from_secs(booted_s), drift);
        let drifts = plan.drift_ppm.iter().zip(1_u64..);
        Arc::new(Self {
            workers: drifts.map(|(drift, number)| machine(number * 1_000, *drift)).collect(),
            agents: (0..REPLICAS).map(|_| machine(77, 0)).collect(),
            client: machine(5, 0),
            jobs: Arc::new(plan.jobs.clone()),
            executing: Arc::default(),
            names: Mutex::default(),
            submitted: Mutex::default(),
            cancelled: Mutex::default(),
            core,
            plan,
            record,
            durable,
            coordination,
            target,
            shared,
            network,
            ids,
            work,
            durable_step_ms,
            coordination_step_ms,
        })
    }

    pub(crate) fn machine(&self, who: Who) -> &Machine {
        match who {
            Who::Worker(number) => &self.workers[number],
            Who::Agents(number) => &self.agents[number],
        }
    }

    /// Starts a task of the world itself.
    pub(crate) fn spawn(&self, task: BoxFuture<()>) {
        self.core.spawn(WORLD, task);
    }

    /// The rooms as a process of this machine reaches them.
    pub(crate) fn rooms(&self, machine: &Machine, domain: Domain) -> Rooms {
        self.rooms_telling(machine, domain, None)
    }

    /// The same, and somebody is told when the parts of a checkpoint are sealed.
    fn rooms_telling(
        &self,
        machine: &Machine,
        domain: Domain,
        settled: Option<Arc<dyn Fn() + Send + Sync>>,
    ) -> Rooms {
        let path = |service| Path {
            network: Arc::clone(&self.network),
            wire: Arc::clone(machine.wire(service)),
            service,
        };
        let room = Arc::clone(&self.shared.coordination);
        let wakes = carry_wakes(&self.core, domain, path(Service::Coordination), &room);
        Rooms {
            durable: Arc::new(DurableLink {
                path: path(Service::Durable),
                room: Arc::clone(&self.shared.durable),
            }),
            coordination: Arc::new(CoordinationLink { path: path(Service::Coordination), room, wakes }),
            target: Arc::new(TargetLink {
                path: path(Service::Target),
                room: Arc::clone(&self.shared.target),
                settled,
            }),
        }
    }

    /// The ports of a process, and the seed of its chance.
    pub(crate) fn runtime(&self, machine: &Machine, domain: Domain, seed: u64) -> Runtime {
        Runtime {
            clock: Arc::clone(&machine.clock) as Arc<dyn runtime::Clock>,
            rng: Arc::new(SeededRng::new(seed)),
            spawner: Arc::new(DomainSpawner { core: Arc::clone(&self.core), domain }),
        }
    }

    pub(crate) fn name(&self, actor: ActorId, name: String) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(actor, name);
    }

    /// Starts a process on a machine that has none.
    pub(crate) fn start(self: &Arc<Self>, who: Who) {
        if self.machine(who).live().is_some() {
            return;
        }
        match who {
            Who::Worker(number) => self.start_worker(number),
            Who::Agents(number) => self.start_agents(number),
        }
    }

    fn start_worker(self: &Arc<Self>, number: usize) {
        let machine = &self.workers[number];
        let (domain, start) = (self.core.new_domain(), machine.next_start());
        let runtime = self.runtime(machine, domain, self.ids.next_u64());
        let incarnation = Incarnation(runtime.new_actor_id().0);
        self.name(incarnation.into(), format!("worker {number}.{start}"));
        self.record.is_worker(incarnation.into(), number);
        let record = Arc::clone(&self.record);
        let settled: Arc<dyn Fn() + Send + Sync> = Arc::new(move || record.reached(number, Point::Sealed));
        let folder = self.work.join(format!("machine{number}"));
        let mut options = WorkerOptions::new(format!("worker{number}"), incarnation, folder);
        options.slots = self.plan.slots[number];
        let story = Story {
            jobs: Arc::clone(&self.jobs),
            clock: Arc::clone(&runtime.clock),
            record: Arc::clone(&self.record),
            executing: Arc::clone(&self.executing),
            place: (number, start),
            slots: usize::try_from(options.slots).unwrap_or(0),
            may_overlap: self.plan.may_overlap(),
        };
        let parts = WorkerParts {
            options,
            rooms: self.rooms_telling(machine, domain, Some(settled)),
            keeper_rooms: self.rooms(machine, domain),
            coordination_limit_ms: Arc::new(AtomicU64::new(1_000)),
            runtime,
            events: Arc::clone(&self.record) as Arc<dyn EventSink>,
            programs: None,
            handlers: vec![Arc::new(story)],
            handler_spawner: None,
        };
        let worker = match Worker::new(parts) {
            Ok(worker) => worker,
            Err(error) => return self.record.wrong(format!("worker {number} cannot start: {error}")),
        };
        let drain: Box<dyn Fn() + Send + Sync> = Box::new(worker.drain_handle());
        self.core.spawn(domain, Box::pin(worker.keeper()));
        *machine.live() = Some(Live { domain, start, drain: Some(drain), shutdown: None });
        let world = Arc::clone(self);
        let ended = async move {
            worker.run().await;
            let inner = Arc::clone(&world);
            world.spawn(Box::pin(async move { inner.worker_ended(number, start).await }));
        };
        self.core.spawn(domain, Box::pin(ended));
    }

    /// A worker that was drained has left; its supervisor starts another.
    async fn worker_ended(self: Arc<Self>, number: usize, start: u32) {
        self.record.fate(format!("worker {number}.{start} has drained"));
        self.core.sleep(Duration::from_millis(300)).await;
        if self.workers[number].domain().is_some_and(|(_, living)| living == start) {
            self.kill(Who::Worker(number));
            self.start(Who::Worker(number));
        }
    }

    fn start_agents(&self, number: usize) {
        let machine = &self.agents[number];
        let (domain, start) = (self.core.new_domain(), machine.next_start());
        let seed = self.ids.next_u64();
        // The agents make their id first: the same chance tells it in advance.
        let actor = self.runtime(machine, domain, seed).new_actor_id();
        self.name(actor, format!("agents {number}.{start}"));
        let Rooms { durable, coordination, target } = self.rooms(machine, domain);
        let ground =
            Ground::new(AgentRooms { durable, coordination, target }, self.runtime(machine, domain, seed));
        let (shutdown, reader) = watch::channel(false);
        run_all(&ground, CleanerOptions { stage_ttl: STAGE_TTL }, &reader);
        *machine.live() = Some(Live { domain, start, drain: None, shutdown: Some(shutdown) });
    }

    /// Ends the process of a machine where it stands; whether there was one.
    pub(crate) fn kill(&self, who: Who) -> bool {
        let Some(live) = self.machine(who).live().take() else { return false };
        self.core.kill(live.domain);
        drop(live.shutdown);
        true
    }

    /// Tells a worker to drain.
    pub(crate) fn drain(&self, number: usize) {
        if let Some(live) = self.workers[number].live().as_ref()
            && let Some(drain) = &live.drain
        {
            drain();
        }
    }

    /// Everybody there may be.
    pub(crate) fn everybody(&self) -> Vec<Who> {
        (0..self.workers.len()).map(Who::Worker).chain((0..self.agents.len()).map(Who::Agents)).collect()
    }

    /// Breaks the circles between processes and their world.
    pub(crate) fn end(&self) {
        for who in self.everybody() {
            self.kill(who);
        }
        self.core.end();
    }
}
