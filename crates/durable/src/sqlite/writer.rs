//! The one thread that writes, with group commit.
//!
//! Promises: requests that wait together are committed together; a reply leaves only after its commit; a request
//! that fails takes no other one with it. Does not delay a request to make a group larger.
//!
//! A group runs first as if nothing could go wrong. When a row of it fails, the group is rolled back and run again,
//! still in one commit, with each row behind a savepoint of its own. When the store fails, as on a full disk, each
//! request is run alone, so that the small ones may find room.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use protocol::{EventSink, Fault, FaultKind, Origin};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::clock::Clock;
use super::section::sql;
use super::transaction::Transaction;
use super::trouble::Trouble;
use super::work::{Batch, Decide, Work};
use crate::Answer;

/// Requests in one commit, at most.
const GROUP_REQUESTS: usize = 512;
/// Rows in one commit, at most (a single request may have more).
const GROUP_ROWS: usize = 10_000;

/// The sending side; the thread ends when it is dropped.
pub(super) struct Writer {
    inbox: Option<Sender<Box<dyn Work>>>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(scribe: Scribe) -> std::io::Result<Self> {
        let (inbox, requests) = mpsc::channel();
        let path = scribe.path.clone();
        let thread = std::thread::Builder::new()
            .name("durable-writer".to_owned())
            .spawn(move || scribe.serve(&requests))?;
        Ok(Self { inbox: Some(inbox), thread: Some(thread), path })
    }

    /// Decides a batch, row by row, in one transaction; answers after its commit.
    pub(super) async fn batch<R, T>(
        &self,
        doing: &'static str,
        origin: &Origin,
        rows: &[R],
        decide: Decide<R, T>,
    ) -> Answer<T>
    where
        R: Clone + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let work = Batch {
            doing,
            origin: *origin,
            rows: rows.to_vec(),
            decide,
            answers: Vec::with_capacity(rows.len()),
            events: Vec::new(),
            reply,
        };
        let gone =
            |kind| Fault::new(kind, format!("{doing} in {}: its writer has ended", self.path.display()));
        let Some(inbox) = &self.inbox else { return Err(gone(FaultKind::Unreachable)) };
        inbox.send(Box::new(work)).map_err(|_| gone(FaultKind::Unreachable))?;
        answer.await.unwrap_or_else(|_| Err(gone(FaultKind::Ambiguous)))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.inbox = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(path = %self.path.display(), "the durable store's writer had panicked");
        }
    }
}

/// What the thread owns.
pub(super) struct Scribe {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) clock: Clock,
    pub(super) sink: Arc<dyn EventSink>,
}

impl Scribe {
    fn serve(self, requests: &Receiver<Box<dyn Work>>) {
        while let Ok(first) = requests.recv() {
            let mut rows = first.rows();
            let mut group = vec![first];
            while group.len() < GROUP_REQUESTS && rows < GROUP_ROWS {
                let Ok(next) = requests.try_recv() else { break };
                rows = rows.saturating_add(next.rows());
                group.push(next);
            }
            // Its requests get no answer and are asked again; a thread that ended would refuse all for ever.
            if catch_unwind(AssertUnwindSafe(|| self.commit(group))).is_err() {
                tracing::error!(path = %self.path.display(), "the durable store's writer has a fault");
                self.roll_back();
            }
        }
    }

    fn commit(&self, mut group: Vec<Box<dyn Work>>) {
        let committed = match self.transaction(&mut group, false) {
            Err(failed) if failed.trouble.of_the_row().is_some() => self.transaction(&mut group, true),
            other => other,
        };
        match committed {
            Ok(()) => group.into_iter().for_each(|work| work.answer(Ok(()), &*self.sink)),
            Err(Failed { trouble, .. }) if trouble.is_busy() => {
                let text = trouble.to_string();
                for work in group {
                    let fault = trouble_again(&trouble, &text).unapplied(work.doing(), &self.path);
                    work.answer(Err(fault), &*self.sink);
                }
            }
            Err(Failed { trouble, .. }) => {
                if trouble.is_full() {
                    self.make_room();
                }
                group.into_iter().for_each(|work| self.alone(work));
            }
        }
    }

    /// What the log holds goes into the file, so that the log is written from its start again instead of growing.
    fn make_room(&self) {
        if let Err(error) = self.connection.execute_batch(sql!("connection", "empty_log")) {
            tracing::warn!(path = %self.path.display(), %error, "cannot empty the log of a full disk");
        }
    }

    fn alone(&self, work: Box<dyn Work>) {
        let mut group = [work];
        let committed = self.transaction(&mut group, true).map_err(|failed| {
            let doing = group[0].doing();
            if failed.at_commit {
                failed.trouble.at_commit(doing, &self.path)
            } else {
                failed.trouble.unapplied(doing, &self.path)
            }
        });
        let [work] = group;
        work.answer(committed, &*self.sink);
    }

    fn transaction(&self, group: &mut [Box<dyn Work>], careful: bool) -> Result<(), Failed> {
        let connection = &self.connection;
        let before = |trouble| Failed { trouble, at_commit: false };
        connection.execute_batch(sql!("connection", "begin")).map_err(|error| before(error.into()))?;
        for work in group.iter_mut() {
            let transaction =
                Transaction { connection, now: self.clock.now(), recording: self.sink.is_on(), careful };
            if let Err(trouble) = work.run(&transaction) {
                self.roll_back();
                return Err(before(trouble));
            }
        }
        connection.execute_batch(sql!("connection", "commit")).map_err(|error| {
            self.roll_back();
            Failed { trouble: error.into(), at_commit: true }
        })
    }

    /// Ends the transaction unless SQLite has ended it by itself.
    fn roll_back(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch(sql!("connection", "rollback"))
        {
            tracing::error!(path = %self.path.display(), %error, "cannot roll back");
        }
    }
}

struct Failed {
    trouble: Trouble,
    at_commit: bool,
}

/// The same trouble once more, for another request of the group.
fn trouble_again(trouble: &Trouble, text: &str) -> Trouble {
    match trouble {
        Trouble::Sql(rusqlite::Error::SqliteFailure(error, _)) => {
            Trouble::Sql(rusqlite::Error::SqliteFailure(*error, Some(text.to_owned())))
        }
        _ => Trouble::BadRow(text.to_owned()),
    }
}
