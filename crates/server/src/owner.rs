//! Owning a data folder.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use agents::{AgentRooms, CleanerOptions, Ground, run_all};
use coordination::memory::{MemoryRoom, Options as MemoryOptions};
use durable::sqlite::{OpenError, Options as SqliteOptions, SqliteRoom};
use durable::{Configure, DurableRoom};
use protocol::Fault;
use remora::{DataFolder, FileEvents, TargetError, adopt_target};
use runtime::{Caller, Clock, Runtime, SystemClock};
use target::file::FileTarget;
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use wire::server::{Listener, Rooms, ServerHandle, ServerOptions, serve};

use crate::control::Control;
use crate::held::{HeldRooms, Instruments};
use crate::lock::{FolderLock, LockError};
use crate::supervisor::{Supervisor, SupervisorOptions};

/// How to own a folder.
#[derive(Debug, Clone)]
pub struct OwnerOptions {
    /// The folder.
    pub folder: DataFolder,
    /// A new lease length; what the folder has when `None`.
    pub lease: Option<Duration>,
    /// The workers to keep.
    pub workers: SupervisorOptions,
    /// Whether to record events to files.
    pub events: bool,
    /// Whether anybody will be able to ask for numbers: where nobody is, none are counted.
    pub scraped: bool,
    /// The cleaner's options.
    pub cleaner: CleanerOptions,
}

/// Why a folder could not be owned.
#[derive(Debug, Error)]
pub enum OwnerError {
    /// The lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The database.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store.
    #[error(transparent)]
    Store(#[from] Fault),
    /// The target folder.
    #[error("cannot publish to {}", folder.display())]
    Target {
        /// Where.
        folder: std::path::PathBuf,
        /// Why.
        source: TargetError,
    },
    /// The system refused something.
    #[error("cannot {doing}")]
    System {
        /// What.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> OwnerError {
    move |source| OwnerError::System { doing, source }
}

/// A folder that is owned by this process.
pub struct Owner {
    coordination: Arc<MemoryRoom>,
    durable: Arc<SqliteRoom>,
    supervisor: Arc<Supervisor>,
    supervising: JoinHandle<()>,
    server: ServerHandle,
    shutdown: watch::Sender<bool>,
    events: Option<Arc<FileEvents>>,
    rooms: HeldRooms,
    _lock: FolderLock,
}

impl Owner {
    /// Takes the folder, starts agents, socket and workers.
    ///
    /// # Errors
    /// When somebody owns it already, it cannot be written, or its database cannot be used.
    pub async fn start(options: OwnerOptions) -> Result<Self, OwnerError> {
        let folder = &options.folder;
        let lock = FolderLock::take(folder)?;
        std::fs::create_dir_all(folder.target()).map_err(system("make the target folder"))?;
        let events = options.events.then(|| FileEvents::start(&folder.events(), "owner"));
        let events = events.transpose().map_err(system("record events"))?;
        let instruments =
            Instruments::begin("remora", events.as_ref(), options.scraped, Arc::new(SystemClock));
        let sqlite = SqliteOptions { sink: Arc::clone(&instruments.sink), ..SqliteOptions::default() };
        let durable = Arc::new(SqliteRoom::open(folder.database(), sqlite)?);
        let target = Arc::new(FileTarget::new(folder.target()));
        adopt_target(durable.as_ref(), target.as_ref())
            .await
            .map_err(|source| OwnerError::Target { folder: folder.target(), source })?;
        let coordination = Arc::new(MemoryRoom::new(MemoryOptions {
            clock: Arc::new(|| SystemClock.boottime()),
            events: Arc::clone(&instruments.sink),
            ..MemoryOptions::default()
        }));
        let lease_ms = set_lease(durable.as_ref(), options.lease).await?;
        let supervisor = Supervisor::new(options.workers, folder.root().to_owned())
            .map_err(system("become the subreaper of the workers"))?;
        let listener = Listener::bind(folder.root()).map_err(system("listen in the data folder"))?;
        let control =
            Control { coordination: Arc::clone(&coordination), supervisor: Arc::clone(&supervisor) };
        let held = instruments.over(worker::Rooms {
            durable: Arc::clone(&durable) as Arc<dyn DurableRoom>,
            coordination: Arc::clone(&coordination) as Arc<dyn coordination::CoordinationRoom>,
            target,
        });
        let served = instruments.served(&held);
        let served =
            Rooms { durable: served.durable, coordination: served.coordination, control: Arc::new(control) };
        let rooms = instruments.hold(held);
        let drain_limit_ms = Arc::new(AtomicU64::new(lease_ms));
        let server = serve(listener, served, ServerOptions { drain_limit_ms, ..ServerOptions::default() });
        let shutdown = watch::channel(false).0;
        let ground = Ground::new(AgentRooms::clone(&rooms), Runtime::system());
        run_all(&ground, options.cleaner, &shutdown.subscribe());
        let supervising = tokio::spawn(Arc::clone(&supervisor).run());
        Ok(Self {
            coordination,
            durable,
            supervisor,
            supervising,
            server,
            shutdown,
            events,
            rooms,
            _lock: lock,
        })
    }

    /// The durable room.
    #[must_use]
    pub fn durable(&self) -> Arc<SqliteRoom> {
        Arc::clone(&self.durable)
    }

    /// The three rooms, for whoever serves them.
    #[must_use]
    pub fn rooms(&self) -> &HeldRooms {
        &self.rooms
    }

    /// `LoseCoordinationState`.
    pub fn lose_coordination(&self) {
        self.coordination.lose();
    }

    /// A handle that kills the workers at once, for the impatient.
    pub fn kill_handle(&self) -> impl Fn() + Send + Sync + 'static {
        let supervisor = Arc::clone(&self.supervisor);
        move || supervisor.kill()
    }

    /// Drains the workers, as on SIGTERM, and lets the folder go.
    pub async fn shutdown(self) {
        self.supervisor.drain();
        // A supervisor that panicked has nothing left to drain.
        let _ = self.supervising.await;
        self.server.shutdown().await;
        self.shutdown.send_replace(true);
        if let Some(events) = &self.events {
            events.finish();
        }
    }
}

/// Sets the lease length, where one was asked for; gives the one in force.
pub(crate) async fn set_lease(durable: &dyn DurableRoom, lease: Option<Duration>) -> Result<u64, Fault> {
    let pool = durable.pool().await?;
    let Some(lease) = lease else { return Ok(pool.lease_ms) };
    let lease_ms = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
    if lease_ms != pool.lease_ms {
        tracing::info!(was_ms = pool.lease_ms, lease_ms, "the lease length of the whole pool is changed");
        let caller = Caller::new(Runtime::system().new_actor_id());
        let change = Configure { lease_ms: Some(lease_ms), ..Configure::default() };
        durable.configure(&caller.send().origin, &change).await?;
    }
    Ok(lease_ms)
}
