//! The agents of an installation, in one of any number of processes.
//!
//! Promises: nothing is lost when it ends at any moment, and two do no harm to each other: agents are correct with any number
//! of replicas. Holds no room and keeps no workers.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agents::{AgentRooms, CleanerOptions, Ground, run_all};
use protocol::{EventSink, Fault, NoEvents};
use remora::{FileEvents, RoomUrls, RoomsError};
use runtime::Runtime;
use thiserror::Error;
use tokio::sync::watch;

use crate::owner::set_lease;

/// How to start one.
#[derive(Debug, Clone)]
pub struct ReplicaOptions {
    /// The rooms.
    pub rooms: RoomUrls,
    /// A new lease length; what the installation has when `None`.
    pub lease: Option<Duration>,
    /// The folder to record events in; none are recorded when `None`.
    pub events: Option<PathBuf>,
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
    /// The events' folder.
    #[error("cannot record events")]
    Events(#[from] io::Error),
}

/// Agents at work.
pub struct Replica {
    shutdown: watch::Sender<bool>,
    events: Option<Arc<FileEvents>>,
}

impl Replica {
    /// Opens the rooms and starts the agents.
    ///
    /// # Errors
    /// When a room cannot be opened, the lease length is out of range, or events cannot be recorded.
    pub async fn start(options: ReplicaOptions) -> Result<Self, ReplicaError> {
        let runtime = Runtime::system();
        let name = format!("server-{}", runtime.new_actor_id());
        let events = options.events.map(|folder| FileEvents::start(&folder, &name)).transpose()?;
        let sink = events.clone().map_or_else(NoEvents::shared, |events| events as Arc<dyn EventSink>);
        let rooms = options.rooms.open(&sink).await?;
        set_lease(rooms.durable.as_ref(), options.lease).await?;
        let rooms =
            AgentRooms { durable: rooms.durable, coordination: rooms.coordination, target: rooms.target };
        let shutdown = watch::channel(false).0;
        run_all(&Ground::new(rooms, runtime), CleanerOptions::default(), &shutdown.subscribe());
        Ok(Self { shutdown, events })
    }

    /// Stops the agents between two passes, as far as they are.
    pub async fn shutdown(self) {
        self.shutdown.send_replace(true);
        self.shutdown.closed().await;
        if let Some(events) = &self.events {
            events.finish();
        }
    }
}
