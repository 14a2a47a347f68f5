//! The room as the law says it: an adapter to compare others with, and to simulate on.
//!
//! Promises: the spec's coordination variables of the pool lie in one `protocol::machine::State`, are decided by
//! the machine's room guards and changed by its effects, and by nothing else; what the port says beyond the spec
//! (epochs, grace, windows and their order, exact ids, repeats, deadlines) lies beside them and is done plainly.
//! Does not record events, forgets no id while an epoch lasts, watches for no clock that goes back, and is not
//! fast: most questions walk over everything.
//! The spec speaks of it as `coordinationVars`; protocol §1 says which actions are here, §2 gives the rules.

mod jobs;
mod law;
mod leases;
mod places;
mod pool;
mod reads;
mod room;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::{AttemptId, Guard, Incarnation, InstallationId, JobId, Mark, ReservationId, Stamped};
use tokio::sync::broadcast;

use crate::{At, PoolConfig, Registration, Wake};
use law::Variables;
use leases::LeaseNote;
use places::{Entry, Permit};

/// The room's clock: never goes back, counts from anywhere.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The coordination room over the law.
pub struct OracleRoom {
    shelf: Mutex<Shelf>,
    clock: Clock,
    wakes: broadcast::Sender<Wake>,
}

/// How a reservation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    HandedBack,
    Released,
    Other,
}

/// How an attempt's stay in this epoch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    ByAge,
    Seen,
}

/// Everything that the room holds, and the moment of the request.
struct Shelf {
    now: Duration,
    law: Variables,
    epoch: u64,
    installation: Option<InstallationId>,
    open: bool,
    began: Duration,
    grace_over: bool,
    order: u64,
    config: PoolConfig,
    /// There exactly while `queued`.
    entries: BTreeMap<JobId, Entry>,
    /// There exactly while `reservation`.
    permits: BTreeMap<JobId, Permit>,
    ended: BTreeMap<ReservationId, (JobId, Incarnation, Ending)>,
    /// There exactly while `leaseState` is live.
    leases: BTreeMap<AttemptId, LeaseNote>,
    /// What was said under the progress shown; nothing before the first report.
    said: BTreeMap<JobId, protocol::UserProgress>,
    unaccounted: BTreeSet<AttemptId>,
    gone: BTreeMap<AttemptId, Ended>,
    workers: BTreeMap<Incarnation, (Registration, Duration)>,
    /// Workers that were asked to drain.
    asked_to_drain: BTreeSet<Incarnation>,
    wakes: Vec<Wake>,
}

/// An answer, before it gets its mark.
type Verdict<T> = Result<T, Guard>;

fn need(holds: bool, guard: Guard) -> Verdict<()> {
    if holds { Ok(()) } else { Err(guard) }
}

/// Whole milliseconds.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Debug for OracleRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OracleRoom").finish_non_exhaustive()
    }
}

impl OracleRoom {
    /// An empty store, as after a loss: epoch 0, every request is stale until an epoch is installed.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let (wakes, _) = broadcast::channel(4_096);
        Self { shelf: Mutex::new(Shelf::empty(Variables::new())), clock, wakes }
    }

    /// `LoseCoordinationState`: everything is gone, the epoch is 0.
    pub fn lose(&self) {
        self.with(Shelf::lose);
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.pass_time((self.clock)());
        shelf
    }

    /// One request's stay; its wake-ups go out at the end.
    fn with<T>(&self, stay: impl FnOnce(&mut Shelf) -> T) -> T {
        let mut shelf = self.lock();
        let answer = stay(&mut shelf);
        let wakes = std::mem::take(&mut shelf.wakes);
        drop(shelf);
        // Nobody may be listening; a hint is a hint.
        wakes.into_iter().for_each(|wake| drop(self.wakes.send(wake)));
        answer
    }
}

impl Shelf {
    /// An empty store; the law remembers that there was one before.
    fn empty(law: Variables) -> Self {
        Self {
            now: Duration::ZERO,
            law,
            epoch: 0,
            installation: None,
            open: false,
            began: Duration::ZERO,
            grace_over: false,
            order: 0,
            config: PoolConfig { revision: 0, global_limit: 0, lease_ms: 15_000, paused: Vec::new() },
            entries: BTreeMap::new(),
            permits: BTreeMap::new(),
            ended: BTreeMap::new(),
            leases: BTreeMap::new(),
            said: BTreeMap::new(),
            unaccounted: BTreeSet::new(),
            gone: BTreeMap::new(),
            workers: BTreeMap::new(),
            asked_to_drain: BTreeSet::new(),
            wakes: Vec::new(),
        }
    }

    fn lease(&self) -> Duration {
        Duration::from_millis(self.config.lease_ms)
    }

    fn mark(&self) -> Mark {
        Mark { epoch: self.epoch, order: self.order }
    }

    /// The request's epoch is the store's, and the store is not empty.
    fn current(&self, at: &At) -> Verdict<()> {
        need(self.epoch > 0 && self.epoch == at.epoch, Guard::Stale)
    }

    /// Every answer is a step of its own; a stale one finds nothing to count on.
    fn answer<T>(&mut self, verdict: Verdict<T>) -> Stamped<T> {
        match verdict {
            Ok(effect) => {
                self.order += 1;
                Stamped::taken(self.mark(), effect)
            }
            Err(guard) => Stamped::refused(self.mark(), guard),
        }
    }

    fn wake(&mut self, wake: Wake) {
        self.wakes.push(wake);
    }
}
