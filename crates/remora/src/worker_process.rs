//! A worker as a process of its own: over the local socket of a data folder's owner, or on the rooms of an installation.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Duration;

use protocol::{EventSink, Incarnation, NoEvents};
use runtime::{Runtime, Spawner};
use rustix::process::{getppid, setsid};
use target::file::FileTarget;
use thiserror::Error;
use tokio::runtime::{Builder, Runtime as Tokio};
use tokio::signal::unix::{SignalKind, signal};
use wire::client::{ClientOptions, ConnectError, CoordinationClient, DurableClient};
use worker::warden::WardenCommand;
use worker::{
    Executor, Handler, ProcessExecutor, ProcessOptions, Rooms, Worker, WorkerError, WorkerOptions,
    WorkerParts,
};

use crate::folder::DataFolder;
use crate::job::{Job, Typed};
use crate::recording::FileEvents;
use crate::rooms::{RoomUrls, RoomsError};
use crate::traced::{Ear, Traced};
use crate::watched::Watches;

/// The word that makes this binary a warden.
pub const WARDEN_WORD: &str = "__remora-warden";
/// Threads that handlers may have, at most; more slots than that are for handlers that mostly wait.
const HANDLER_THREADS: usize = 64;
/// How often an owned worker looks whether its owner is still there.
const OWNER_LOOK: Duration = Duration::from_millis(200);

/// Turns the process into a warden when it was started as one. To be called first in `main` of every
/// program that runs a [`WorkerProcess`].
pub fn init() {
    if std::env::args_os().nth(1).is_some_and(|word| word == WARDEN_WORD) {
        let code = worker::warden::warden_main();
        std::process::exit(i32::from(code != ExitCode::SUCCESS));
    }
}

/// Why a worker process ended or did not start.
#[derive(Debug, Error)]
pub enum WorkerProcessError {
    /// There is no owner to work for.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The rooms of the installation.
    #[error(transparent)]
    Rooms(#[from] RoomsError),
    /// The worker itself.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The system refused something.
    #[error("cannot {doing}")]
    System {
        /// What.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// A second signal asked to leave at once.
    #[error("left at the second signal; what ran goes on elsewhere from its last checkpoint")]
    LeftAtOnce,
    /// The lease keeper has a fault: without it nothing that runs may go on.
    #[error("the lease keeper has ended; this worker must not go on without it")]
    KeeperGone,
    /// Nothing can be told of its health there.
    #[cfg(feature = "health")]
    #[error("cannot tell of the worker's health at {address}")]
    Health {
        /// Where.
        address: std::net::SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The owner is gone, and with it this worker's reason to be.
    #[error("the owner of the data folder is gone")]
    OwnerGone,
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> WorkerProcessError {
    move |source| WorkerProcessError::System { doing, source }
}

/// A worker process, being set up.
pub struct WorkerProcess {
    folder: DataFolder,
    rooms: Option<RoomUrls>,
    name: Option<String>,
    slots: u32,
    queues: Option<Vec<String>>,
    kinds: Vec<String>,
    handlers: Vec<Arc<dyn Handler>>,
    programs: bool,
    owned: bool,
    events: bool,
    helper: Option<PathBuf>,
    drain_notice: Option<Duration>,
    #[cfg(feature = "health")]
    health: Option<std::net::SocketAddr>,
}

impl WorkerProcess {
    /// A worker of one slot for the owner of this data folder. It runs programs, unless told otherwise, and
    /// the jobs added.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: DataFolder::new(folder),
            rooms: None,
            name: None,
            slots: 1,
            queues: None,
            kinds: Vec::new(),
            handlers: Vec::new(),
            programs: true,
            owned: false,
            events: true,
            helper: None,
            drain_notice: None,
            #[cfg(feature = "health")]
            health: None,
        }
    }

    /// Tells over HTTP how it is, at an address of loopback: `/healthz`, `/readyz`, `/metrics`. Nowhere unless said.
    #[cfg(feature = "health")]
    #[must_use]
    pub fn health(mut self, address: std::net::SocketAddr) -> Self {
        self.health = Some(address);
        self
    }

    /// Works on these rooms; the folder then holds nothing but what this machine's attempts work in, and events.
    #[must_use]
    pub fn on(mut self, rooms: RoomUrls) -> Self {
        self.rooms = Some(rooms);
        self
    }

    /// Its name; the host's name and the process id unless said.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Places to run: 1 to 10,000.
    #[must_use]
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = slots;
        self
    }

    /// The queues it serves; all unless said.
    #[must_use]
    pub fn queues(mut self, queues: Vec<String>) -> Self {
        self.queues = Some(queues);
        self
    }

    /// Kinds of programs it serves beside `exec`.
    #[must_use]
    pub fn kinds(mut self, kinds: Vec<String>) -> Self {
        self.kinds = kinds;
        self
    }

    /// Serves a job.
    #[must_use]
    pub fn job<J: Job>(mut self, job: J) -> Self {
        self.handlers.push(Arc::new(Typed(job)));
        self
    }

    /// Runs no programs, only the jobs added.
    #[must_use]
    pub fn without_programs(mut self) -> Self {
        self.programs = false;
        self
    }

    /// Ends at once when the process that started it is gone, and takes a session of its own.
    #[must_use]
    pub fn owned(mut self) -> Self {
        self.owned = true;
        self
    }

    /// Records no events of its own.
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.events = false;
        self
    }

    /// The `remora` binary that programs find on their PATH; this binary unless said.
    #[must_use]
    pub fn helper(mut self, helper: impl Into<PathBuf>) -> Self {
        self.helper = Some(helper.into());
        self
    }

    /// The notice that a drain gives to what runs, before SIGTERM; 30 s unless said.
    #[must_use]
    pub fn drain_notice(mut self, notice: Duration) -> Self {
        self.drain_notice = Some(notice);
        self
    }

    /// Runs until it is told to drain (SIGTERM or SIGINT) and everything has ended.
    ///
    /// # Errors
    /// When it cannot start, is told to leave at once, or its owner is gone.
    pub fn run(self) -> Result<(), WorkerProcessError> {
        let parent = getppid();
        if self.owned {
            // Already leading a session is as good.
            let _ = setsid();
        }
        let owned = self.owned;
        let telling = Telling::begin(&self)?;
        let main =
            Builder::new_multi_thread().enable_all().build().map_err(system("start the async runtime"))?;
        let keeping =
            Builder::new_current_thread().enable_all().build().map_err(system("start the async runtime"))?;
        let handling = self.handler_runtime()?;
        let limit_ms = Arc::new(AtomicU64::new(5_000));
        let traced = Traced::begin("remora-worker");
        let options = WorkerOptions { companion: traced.companion(), ..self.options() };
        let events = self.start_events(options.incarnation);
        let (sink, watches) = telling.counting(events.as_ref(), &traced);
        let sink = traced.telling(sink);
        let keeper_rooms = watches.over(keeping.block_on(self.connect(&options.name, &limit_ms, &sink))?);
        let rooms = watches.over(main.block_on(self.connect(&options.name, &limit_ms, &sink))?);
        let rooms = traced.over(rooms, Ear::Own);
        let (own_rooms, incarnation) = (rooms.clone(), options.incarnation);
        let worker = Worker::new(WorkerParts {
            programs: self.executor()?,
            handlers: self.handlers,
            handler_spawner: handling
                .as_ref()
                .map(|runtime| Arc::new(runtime.handle().clone()) as Arc<dyn Spawner>),
            options,
            rooms,
            keeper_rooms,
            coordination_limit_ms: limit_ms,
            runtime: Runtime::system(),
            events: sink,
        })?;
        let keeper = worker.keeper();
        let (alive, keeper_ended) = tokio::sync::oneshot::channel::<()>();
        let keeper = thread::Builder::new()
            .name("remora-keeper".to_owned())
            .spawn(move || {
                // Dropped at the end, a panic included.
                let _alive = alive;
                keeping.block_on(keeper);
            })
            .map_err(WorkerError::Keeper)?;
        let drain = worker.drain_handle();
        let telling = telling.tell(own_rooms, incarnation, worker.draining());
        let result = main.block_on(async {
            tokio::select! {
                biased;
                () = worker.run() => Ok(()),
                _ = keeper_ended => Err(WorkerProcessError::KeeperGone),
                ended = obey_signals(drain) => ended,
                ended = watch_owner(parent, owned) => Err(ended),
                ended = telling => Err(ended),
            }
        });
        if result.is_ok() {
            // It ends by itself once the worker has.
            let _ = keeper.join();
        }
        if let Some(events) = events {
            events.finish();
        }
        handling.into_iter().chain([main]).for_each(Tokio::shutdown_background);
        // Nothing of a job runs here any more: now it may take its time.
        drop(traced);
        result
    }

    /// A runtime for handlers, with a thread for each slot as far as that is sensible: a handler that
    /// computes without a pause takes nothing from its neighbours, from claims, or from programs' deadlines.
    fn handler_runtime(&self) -> Result<Option<Tokio>, WorkerProcessError> {
        if self.handlers.is_empty() {
            return Ok(None);
        }
        let slots = usize::try_from(self.slots).unwrap_or(HANDLER_THREADS);
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(slots.clamp(1, HANDLER_THREADS)).thread_name("remora-handler").enable_all();
        builder.build().map(Some).map_err(system("start the handlers' runtime"))
    }

    fn options(&self) -> WorkerOptions {
        let incarnation = Incarnation(Runtime::system().new_actor_id().0);
        let name = self.name.clone().unwrap_or_else(|| format!("worker-{}", std::process::id()));
        let mut options = WorkerOptions::new(name, incarnation, self.folder.work());
        options.slots = self.slots;
        options.queues.clone_from(&self.queues);
        options.kinds.extend(self.kinds.iter().cloned());
        options.drain_notice = self.drain_notice.unwrap_or(options.drain_notice);
        options
    }

    async fn connect(
        &self,
        name: &str,
        limit_ms: &Arc<AtomicU64>,
        sink: &Arc<dyn EventSink>,
    ) -> Result<Rooms, WorkerProcessError> {
        if let Some(rooms) = &self.rooms {
            return Ok(rooms.open_to_publish(sink).await?);
        }
        let options = ClientOptions::new(self.folder.root(), name);
        let durable = DurableClient::connect(options.clone()).await?;
        let coordination = CoordinationClient::connect(options.with_time_limit(Arc::clone(limit_ms))).await?;
        let target = FileTarget::new(self.folder.target());
        Ok(Rooms {
            durable: Arc::new(durable),
            coordination: Arc::new(coordination),
            target: Arc::new(target),
        })
    }

    fn start_events(&self, incarnation: Incarnation) -> Option<Arc<FileEvents>> {
        if !self.events {
            return None;
        }
        match FileEvents::start(&self.folder.events(), &format!("worker-{incarnation}")) {
            Ok(events) => Some(events),
            Err(error) => {
                tracing::warn!(%error, "cannot record events; going on without");
                None
            }
        }
    }

    fn executor(&self) -> Result<Option<Arc<dyn Executor>>, WorkerProcessError> {
        if !self.programs {
            return Ok(None);
        }
        let own = std::env::current_exe().map_err(system("find this program's own file"))?;
        let warden = WardenCommand {
            // The file may be replaced while this process lives; its own image is always the right one.
            program: PathBuf::from("/proc/self/exe"),
            words: vec![OsString::from(WARDEN_WORD)],
        };
        let helper = self.helper.clone().unwrap_or(own);
        let executor =
            ProcessExecutor::new(ProcessOptions { warden, helper }).map_err(system("become a subreaper"))?;
        Ok(Some(Arc::new(executor)))
    }
}

fn sink_of(events: Option<&Arc<FileEvents>>) -> Arc<dyn EventSink> {
    events.map_or_else(NoEvents::shared, |events| Arc::clone(events) as Arc<dyn EventSink>)
}

/// What tells of the worker's health, where that is asked for.
#[cfg(feature = "health")]
struct Telling(Option<(std::net::SocketAddr, std::net::TcpListener, Arc<metrics::Metrics>)>);

#[cfg(feature = "health")]
impl Telling {
    /// Listens before anything else is begun, so that an address that cannot be had costs nothing.
    fn begin(process: &WorkerProcess) -> Result<Self, WorkerProcessError> {
        let Some(address) = process.health else { return Ok(Self(None)) };
        let listener = crate::health::listen(address)
            .map_err(|source| WorkerProcessError::Health { address, source })?;
        Ok(Self(Some((address, listener, metrics::Metrics::new()))))
    }

    fn counting(&self, events: Option<&Arc<FileEvents>>, traced: &Traced) -> (Arc<dyn EventSink>, Watches) {
        let (sink, watches) = (sink_of(events), Watches::new(Runtime::system().clock));
        let Some((_, _, metrics)) = &self.0 else { return (sink, watches) };
        if let Some(events) = events.map(Arc::clone) {
            metrics.events_dropped(move || events.dropped());
        }
        if let Some(dropped) = traced.dropped() {
            metrics.spans_dropped(dropped);
        }
        (metrics.counting(sink), watches.timed(metrics.timer()))
    }

    async fn tell(
        self,
        rooms: Rooms,
        worker: Incarnation,
        draining: tokio::sync::watch::Receiver<bool>,
    ) -> WorkerProcessError {
        let Some((address, listener, metrics)) = self.0 else { return std::future::pending().await };
        let rooms = api::DirectRooms::of(rooms.durable, rooms.coordination, rooms.target);
        let health = crate::health::Health { worker, direct: api::Direct::new(rooms), draining, metrics };
        match crate::health::serve(listener, health).await {
            Ok(never) => match never {},
            Err(source) => WorkerProcessError::Health { address, source },
        }
    }
}

/// Nothing is told.
#[cfg(not(feature = "health"))]
struct Telling;

#[cfg(not(feature = "health"))]
impl Telling {
    #[expect(clippy::unnecessary_wraps, reason = "the same shape as where something is told")]
    fn begin(_: &WorkerProcess) -> Result<Self, WorkerProcessError> {
        Ok(Self)
    }

    fn counting(&self, events: Option<&Arc<FileEvents>>, _: &Traced) -> (Arc<dyn EventSink>, Watches) {
        (sink_of(events), Watches::new(Runtime::system().clock))
    }

    async fn tell(
        self,
        _: Rooms,
        _: Incarnation,
        _: tokio::sync::watch::Receiver<bool>,
    ) -> WorkerProcessError {
        std::future::pending().await
    }
}

/// The first signal drains, the second leaves at once.
async fn obey_signals(drain: impl Fn()) -> Result<(), WorkerProcessError> {
    let mut term = signal(SignalKind::terminate()).map_err(system("listen to SIGTERM"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(system("listen to SIGINT"))?;
    for round in 0..2 {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        if round == 0 {
            tracing::info!("draining: no new jobs; what runs gets notice");
            drain();
        }
    }
    Err(WorkerProcessError::LeftAtOnce)
}

async fn watch_owner(parent: Option<rustix::process::Pid>, owned: bool) -> WorkerProcessError {
    if !owned {
        return std::future::pending().await;
    }
    while getppid() == parent {
        tokio::time::sleep(OWNER_LOOK).await;
    }
    WorkerProcessError::OwnerGone
}
