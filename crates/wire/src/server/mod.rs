//! The serving side: the owner's rooms, offered to worker processes and to the command line.
//!
//! Promises: each request runs in its own task, a bounded number of them per connection; replies go out in
//! the order in which they are ready; wake-ups wait for nobody; a connection whose replies do not drain in
//! time is closed; nonsense from a peer ends that peer's connection and nothing else.
//! Does not decide anything: requests go to the rooms as they came.

mod connection;
mod dispatch;
mod replies;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use coordination::CoordinationRoom;
use durable::DurableRoom;
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::socket;

/// Answers questions that are no room's business.
#[async_trait]
pub trait ControlHandler: Send + Sync {
    /// Answers one. Both texts are the caller's business.
    async fn handle(&self, request: String) -> Result<String, String>;
}

/// What is served.
#[derive(Clone)]
pub struct Rooms {
    /// The durable room.
    pub durable: Arc<dyn DurableRoom>,
    /// The coordination room.
    pub coordination: Arc<dyn CoordinationRoom>,
    /// The rest.
    pub control: Arc<dyn ControlHandler>,
}

/// How it is served.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// A connection whose replies do not drain for so long is closed; meant to follow the lease length, in
    /// milliseconds. Too short: a worker that is paused for a moment loses its connection. Too long: a
    /// frozen one holds memory.
    pub drain_limit_ms: Arc<AtomicU64>,
    /// Requests of one connection that are worked on at once; further ones stay in the socket.
    pub requests_at_once: usize,
    /// How long a shutdown waits for requests under way.
    pub shutdown_limit: Duration,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            drain_limit_ms: Arc::new(AtomicU64::new(15_000)),
            requests_at_once: 256,
            shutdown_limit: Duration::from_secs(5),
        }
    }
}

impl ServerOptions {
    fn drain_limit(&self) -> Duration {
        Duration::from_millis(self.drain_limit_ms.load(Ordering::Relaxed))
    }
}

/// What every connection shares.
struct Served {
    rooms: Rooms,
    options: ServerOptions,
}

/// The socket of a folder, bound.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    folder: PathBuf,
}

impl Listener {
    /// Binds [`crate::SOCKET`] in the folder, for this user only. The caller holds the folder's lock; the
    /// socket of an earlier owner goes away.
    ///
    /// # Errors
    /// When the folder is not there or not writable.
    pub fn bind(folder: impl AsRef<Path>) -> io::Result<Self> {
        let folder = folder.as_ref().to_owned();
        Ok(Self { socket: socket::bind(&folder)?, folder })
    }
}

/// A running server. Dropping it ends the server at once.
#[derive(Debug)]
pub struct ServerHandle {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    limit: Duration,
}

impl ServerHandle {
    /// Accepts nothing more, lets requests under way end, closes every connection, removes the socket.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        if tokio::time::timeout(self.limit, &mut self.task).await.is_err() {
            tracing::warn!("some requests did not end in time and were dropped");
        }
    }
}

impl Drop for ServerHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves the rooms on a bound socket until the handle is shut down.
#[must_use]
pub fn serve(listener: Listener, rooms: Rooms, options: ServerOptions) -> ServerHandle {
    let (stop, stopped) = watch::channel(false);
    let limit = options.shutdown_limit;
    let served = Arc::new(Served { rooms, options });
    let task = tokio::spawn(accept(listener, served, stopped));
    ServerHandle { stop, task, limit }
}

async fn accept(listener: Listener, served: Arc<Served>, mut stopped: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = stopped.changed() => break,
            Some(ended) = connections.join_next(), if !connections.is_empty() => {
                if let Err(error) = ended {
                    tracing::error!(%error, "a connection's task failed");
                }
            }
            accepted = listener.socket.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection::serve(stream, Arc::clone(&served), stopped.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
    if let Err(error) = socket::unlink(&listener.folder) {
        tracing::debug!(%error, "cannot remove the socket");
    }
    while connections.join_next().await.is_some() {}
}
