//! The agents of an installation, in one of any number of processes.
//!
//! Promises: nothing is lost when it ends at any moment, and two do no harm to each other: agents are correct with any number
//! of replicas. Keeps workers on its own machine where it is asked to. Holds no room.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agents::{AgentRooms, CleanerOptions, Ground, run_all};
use protocol::Fault;
use remora::{DataFolder, FileEvents, RoomUrls, RoomsError};
use runtime::Runtime;
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::held::{HeldRooms, Instruments};
use crate::owner::set_lease;
use crate::supervisor::{Supervisor, SupervisorOptions};

/// How to start one.
#[derive(Debug, Clone)]
pub struct ReplicaOptions {
    /// The rooms.
    pub rooms: RoomUrls,
    /// A new lease length; what the installation has when `None`.
    pub lease: Option<Duration>,
    /// The folder that this machine's workers and events need.
    pub folder: DataFolder,
    /// Workers to keep here; their `rooms` are set to the above.
    pub workers: SupervisorOptions,
    /// Whether to record events to files.
    pub events: bool,
    /// Whether anybody will be able to ask for numbers: where nobody is, none are counted.
    pub scraped: bool,
}

/// Why it did not start.
#[derive(Debug, Error)]
pub enum ReplicaError {
    /// A room.
    #[error(transparent)]
    Rooms(#[from] RoomsError),
    /// The durable store.
    #[error(transparent)]
    Store(#[from] Fault),
    /// The system refused something.
    #[error("cannot {doing}")]
    System {
        /// What.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// Agents at work.
pub struct Replica {
    lease_ms: u64,
    shutdown: watch::Sender<bool>,
    events: Option<Arc<FileEvents>>,
    supervisor: Arc<Supervisor>,
    supervising: JoinHandle<()>,
    rooms: HeldRooms,
}

impl Replica {
    /// Opens the rooms and starts the agents.
    ///
    /// # Errors
    /// When a room cannot be opened, the lease length is out of range, or events cannot be recorded.
    pub async fn start(options: ReplicaOptions) -> Result<Self, ReplicaError> {
        let runtime = Runtime::system();
        let name = format!("server-{}", runtime.new_actor_id());
        let system = |doing| move |source| ReplicaError::System { doing, source };
        let events = options.events.then(|| FileEvents::start(&options.folder.events(), &name));
        let events = events.transpose().map_err(system("record events"))?;
        let clock = Arc::clone(&runtime.clock);
        let instruments = Instruments::begin("remora-server", events.as_ref(), options.scraped, clock);
        let rooms = instruments.over(options.rooms.open_to_publish(&instruments.sink).await?);
        let lease_ms = set_lease(rooms.durable.as_ref(), options.lease).await?;
        let workers = SupervisorOptions { rooms: Some(options.rooms), ..options.workers };
        let supervisor = Supervisor::new(workers, options.folder.root().to_owned())
            .map_err(system("become the subreaper of the workers"))?;
        let rooms = instruments.hold(rooms);
        let shutdown = watch::channel(false).0;
        run_all(
            &Ground::new(AgentRooms::clone(&rooms), runtime),
            CleanerOptions::default(),
            &shutdown.subscribe(),
        );
        let supervising = tokio::spawn(Arc::clone(&supervisor).run());
        Ok(Self { lease_ms, shutdown, events, supervisor, supervising, rooms })
    }

    /// The three rooms, for whoever serves them.
    #[must_use]
    pub fn rooms(&self) -> &HeldRooms {
        &self.rooms
    }

    /// The lease length in force, for the whole installation, in milliseconds.
    #[must_use]
    pub fn lease_ms(&self) -> u64 {
        self.lease_ms
    }

    /// A handle that kills the workers kept here at once, for the impatient.
    pub fn kill_handle(&self) -> impl Fn() + Send + Sync + 'static {
        let supervisor = Arc::clone(&self.supervisor);
        move || supervisor.kill()
    }

    /// Drains the workers kept here, then stops the agents between two passes.
    pub async fn shutdown(self) {
        self.supervisor.drain();
        // A supervisor that panicked has nothing left to drain.
        let _ = self.supervising.await;
        self.shutdown.send_replace(true);
        self.shutdown.closed().await;
        if let Some(events) = &self.events {
            events.finish();
        }
    }
}
