//! A small pool of connections that only read.
//!
//! Promises: every read is one snapshot, taken after the read was asked for, so it sees every write that was
//! answered before. Does not write; `query_only` holds it to that.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::{Fault, FaultKind};
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::clock::Clock;
use super::open;
use super::section::sql;
use super::transaction::Transaction;
use super::trouble::Trouble;

/// Connections of one pool, at most. Decisions and people have a pool each, so a long list holds up no agent.
const CONNECTIONS: usize = 2;

/// The pool.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    way: open::Way,
    clock: Clock,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
}

impl Reader {
    pub(super) fn new(path: PathBuf, way: open::Way, clock: Clock) -> Self {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        Self { shared: Arc::new(Shared { path, way, clock, idle: Mutex::default(), places }) }
    }

    /// Reads in one snapshot.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Fault> {
        let shared = Arc::clone(&self.shared);
        let place = Arc::clone(&shared.places).acquire_owned().await;
        let read = tokio::task::spawn_blocking(move || {
            let answer = shared.read(doing, work);
            drop(place);
            answer
        });
        read.await.unwrap_or_else(|error| {
            Err(Fault::new(FaultKind::Unreachable, doing.to_owned()).caused_by(error))
        })
    }
}

impl Shared {
    fn read<T>(
        &self,
        doing: &str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Fault> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                open::reader(&self.path, self.way).map_err(|trouble| trouble.unapplied(doing, &self.path))?
            }
        };
        let answer = self.snapshot(&connection, work).map_err(|trouble| trouble.unapplied(doing, &self.path));
        if connection.is_autocommit() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        answer
    }

    fn snapshot<T>(
        &self,
        connection: &Connection,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        connection.prepare_cached(sql!("connection", "begin_snapshot"))?.execute([])?;
        let transaction = Transaction { connection, now: self.clock.now(), recording: false, careful: false };
        let answer = work(&transaction);
        connection.prepare_cached(sql!("connection", "rollback"))?.execute([])?;
        answer
    }
}
