//! The room as the law says it: an adapter to compare others with, and to simulate on.
//!
//! Promises: the spec's durable variables of each job lie in a `protocol::machine::State`, are decided by the
//! machine's room guards and changed by its effects, and by nothing else; what the port says beyond the spec
//! (repeats, rows set aside, due times, documents, errors, stages) lies beside them and is done plainly.
//! Does not keep anything, does not record events, is not fast: every read walks over all jobs. A count of
//! checkpoints above 65,534 is set aside: the law counts in 16 bits.
//! The spec speaks of it as `durableVars`; protocol §1 says which actions are here.

mod access;
mod claims;
mod ends;
mod job;
mod people;
mod pool;
mod reads;
mod room;
mod stages;
mod submissions;
mod verbs;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::{ActorId, InstallationId, JobId, Mark, Stamped, Timestamp};

use crate::PoolRow;
use job::JobRow;

/// The store's clock.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Why a damaged row is set aside.
const UNREADABLE: &str = "what the job asks for cannot be decoded";

/// The durable room over the law.
pub struct OracleRoom {
    shelf: Mutex<Shelf>,
    clock: Clock,
}

/// Everything that the room holds, and the moment of the request.
struct Shelf {
    now: Timestamp,
    pool: PoolRow,
    raised_from: u64,
    raised_by: Option<ActorId>,
    pool_revision: u64,
    jobs: BTreeMap<JobId, JobRow>,
    keys: BTreeMap<String, JobId>,
    /// The last place given in the outbox.
    outbox: u64,
    access: access::Records,
}

impl fmt::Debug for OracleRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OracleRoom").finish_non_exhaustive()
    }
}

impl OracleRoom {
    /// A fresh room: epoch 1, open, 1,000 places, a lease length of 15 s.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let pool = PoolRow {
            epoch: 1,
            open: true,
            lease_ms: 15_000,
            global_limit: 1_000,
            paused: Vec::new(),
            config_revision: 1,
            installation: InstallationId(1),
            target: None,
        };
        let shelf = Shelf {
            now: clock(),
            pool,
            raised_from: 0,
            raised_by: None,
            pool_revision: 1,
            jobs: BTreeMap::new(),
            keys: BTreeMap::new(),
            outbox: 0,
            access: access::Records::default(),
        };
        Self { shelf: Mutex::new(shelf), clock }
    }

    /// The same room as the one of another installation: to stand beside an adapter that made its id by chance.
    pub fn belong_to(&self, installation: InstallationId) {
        self.lock().pool.installation = installation;
    }

    /// Makes what is kept of a job's submission unreadable, as a bad disk would.
    pub fn damage(&self, job: JobId) {
        if let Some(row) = self.lock().jobs.get_mut(&job) {
            row.unreadable = true;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.now = shelf.now.max((self.clock)());
        shelf
    }
}

/// The job's mark at a revision.
fn mark(revision: u64) -> Mark {
    Mark { epoch: 0, order: revision }
}

/// A request that is wrong in itself; no row was looked at.
fn aside<T>(reason: impl Into<String>) -> Stamped<T> {
    Stamped::set_aside(Mark::default(), reason)
}

/// A text that every store can hold.
fn storable(text: &str, limit: usize) -> String {
    text[..text.floor_char_boundary(limit)].replace('\0', "\u{2400}")
}
