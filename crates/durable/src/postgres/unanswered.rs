//! Requests that were sent and whose answer nobody has seen: what one of them did is recorded when it is asked again, under
//! the number it had when it did it (protocol §6).
//!
//! Promises that a row's request counts as asked again only until it was answered once. Does not keep more than
//! [`MOST`]: beyond that all are forgotten, and the trace has gaps as it has when a process is killed.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::{ActorId, Origin};

/// How many are remembered. Too few: gaps after a long cut of the link. Too many: memory for what is never asked again.
const MOST: usize = 10_000;

/// One row of a request: of which action, whose, its number, and the job.
pub(super) type Row = (&'static str, ActorId, u64, u128);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Unanswered(Mutex<HashSet<Row>>);

impl Unanswered {
    pub(super) fn row(doing: &'static str, origin: &Origin, job: u128) -> Row {
        (doing, origin.actor, origin.sequence, job)
    }

    /// It is sent. Whether it was before, and never answered.
    pub(super) fn send(&self, row: Row) -> bool {
        let mut rows = self.lock();
        if rows.len() >= MOST {
            rows.clear();
        }
        !rows.insert(row)
    }

    /// Its answer is there.
    pub(super) fn answered(&self, row: &Row) {
        self.lock().remove(row);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Row>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
