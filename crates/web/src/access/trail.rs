//! The trail: who asked for which change, and what came of it.
//!
//! Promises: an entry is stored before its answer is given, together with those of other requests of the same moment;
//! where the store gives no answer within two seconds, the log has the entry instead. No secret is in it: of a request it
//! says operation and object, never a body.

use std::sync::Arc;
use std::time::Duration;

use durable::{Access, TrailEntry};
use tokio::sync::{mpsc, oneshot};

/// Entries written at once.
const TOGETHER: usize = 500;
/// Entries that wait to be written.
const WAITING: usize = 4_096;
/// How long an answer waits for its entry.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a change was about, for the trail; a handler puts it among its response's extensions.
#[derive(Debug, Clone)]
pub struct About(pub String);

type Waiting = (TrailEntry, oneshot::Sender<()>);

/// The way into the trail.
#[derive(Clone)]
pub(crate) struct Trail(mpsc::Sender<Waiting>);

impl Trail {
    /// Starts the task that writes; it ends when nobody can add any more.
    pub(crate) fn start(store: Arc<dyn Access>) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(write(store, receiver));
        Self(sender)
    }

    /// Adds an entry.
    pub(crate) async fn add(&self, entry: TrailEntry) {
        let (written, is_written) = oneshot::channel();
        let text = format!("{} {} {}: {}", entry.who, entry.action, entry.object, entry.outcome);
        let add = async { self.0.send((entry, written)).await.is_ok() && is_written.await.is_ok() };
        if !tokio::time::timeout(PATIENCE, add).await.unwrap_or(false) {
            tracing::warn!(entry = %text, "the trail could not be written");
        }
    }
}

async fn write(store: Arc<dyn Access>, mut receiver: mpsc::Receiver<Waiting>) {
    let mut waiting = Vec::with_capacity(TOGETHER);
    while receiver.recv_many(&mut waiting, TOGETHER).await > 0 {
        let (entries, written): (Vec<_>, Vec<_>) = waiting.drain(..).unzip();
        match store.add_to_trail(&entries).await {
            Ok(()) => written.into_iter().for_each(|one| {
                // Who does not wait any more has been told of it in the log.
                let _ = one.send(());
            }),
            // Whoever waits is told by the sender's end.
            Err(fault) => tracing::debug!(%fault, "entries of the trail were not written"),
        }
    }
}
