//! The embedded coordination room: a pool in this process's memory.
//!
//! Promises: each action is one atomic step under one lock; every step is ordered by the pool's revision,
//! recorded inside it; every operation is at most logarithmic in what is held; wake-ups are sent and never
//! awaited. A clock that goes back by more than a lease length, or a panic inside a step, empties the store
//! (rules 8 and 9): that is always safe. An epoch that was lost is not installed again, also by a copy of the request that
//! arrives late.
//! Does not keep anything: the process's end is `LoseCoordinationState`. A lease past its length counts as
//! live, and may be renewed, until `ExpireLease` ends it, as in the spec; the reaper drives that.
//! The spec speaks of it as `coordinationVars`; protocol §1 says which actions are here, §2 gives the rules.

mod actions;
#[cfg(feature = "conformance")]
mod backup;
mod epoch;
mod jobs;
mod leases;
mod pool;
mod reads;
mod reservations;
mod room;
mod turn;
mod windows;
mod workers;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use protocol::{Action, ActorId, Detail, Event, EventSink, NoEvents, Outcome, Room};
use tokio::sync::broadcast;

use crate::{At, Wake};
#[cfg(feature = "conformance")]
pub use backup::Backup;
use pool::Pool;
use turn::Turn;

/// The room's clock: never goes back, counts from anywhere.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// What a [`MemoryRoom`] is made with.
#[derive(Clone)]
pub struct Options {
    /// Ages leases and reservations. By default the process's monotonic clock.
    pub clock: Clock,
    /// Where events go; by default nowhere. Called under the room's lock, so it must not call the room.
    pub events: Arc<dyn EventSink>,
    /// Wake-ups kept for a receiver that is behind; 4,096 by default. Too few: receivers fall back to
    /// looking now and then. Too many: memory.
    pub wakes_kept: usize,
}

impl Default for Options {
    fn default() -> Self {
        let start = Instant::now();
        Self { clock: Arc::new(move || start.elapsed()), events: NoEvents::shared(), wakes_kept: 4_096 }
    }
}

/// The coordination room in memory.
pub struct MemoryRoom {
    shelf: Mutex<Shelf>,
    clock: Clock,
    events: Arc<dyn EventSink>,
    wakes: broadcast::Sender<Wake>,
}

/// What the lock guards.
struct Shelf {
    pool: Pool,
    /// The latest moment seen of the clock.
    now: Duration,
    /// Losses recorded by the room itself.
    losses: u64,
    /// The highest epoch ever installed.
    installed: u64,
}

impl fmt::Debug for MemoryRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRoom").finish_non_exhaustive()
    }
}

impl Default for MemoryRoom {
    fn default() -> Self {
        Self::new(Options::default())
    }
}

impl MemoryRoom {
    /// An empty store, as after a loss: epoch 0, every request is stale until an epoch is installed.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let (wakes, _) = broadcast::channel(options.wakes_kept.max(1));
        Self {
            shelf: Mutex::new(Shelf { pool: Pool::empty(), now: Duration::ZERO, losses: 0, installed: 0 }),
            clock: options.clock,
            events: options.events,
            wakes,
        }
    }

    /// `LoseCoordinationState`: everything is gone, the epoch is 0.
    #[doc(alias = "LoseCoordinationState")]
    pub fn lose(&self) {
        self.empty(&mut self.lock());
    }

    fn empty(&self, shelf: &mut Shelf) {
        let mark = shelf.pool.mark();
        shelf.pool = Pool::empty();
        if mark.epoch > 0 && self.events.is_on() {
            shelf.losses += 1;
            self.events.record(Event {
                room: Room::Coordination,
                epoch: mark.epoch,
                order: mark.order + 1,
                action: Action::LoseCoordinationState,
                outcome: Outcome::Taken,
                job: None,
                token: None,
                attempt: None,
                actor: ActorId(0),
                sequence: shelf.losses,
                sent_after: 0,
                answered_before: None,
                detail: Detail::default(),
                judged: Vec::new(),
            });
        }
        self.send(Wake::Epoch);
    }

    /// The pool, at a moment that is never before an earlier one. A step that panicked half way leaves
    /// nothing that could be trusted, so the store is emptied.
    fn lock(&self) -> MutexGuard<'_, Shelf> {
        let mut shelf = self.shelf.lock().unwrap_or_else(|poisoned| {
            let mut shelf = poisoned.into_inner();
            self.empty(&mut shelf);
            self.shelf.clear_poison();
            shelf
        });
        let now = (self.clock)();
        if now.saturating_add(shelf.pool.lease()) < shelf.now {
            self.empty(&mut shelf);
            shelf.now = now;
        }
        shelf.now = shelf.now.max(now);
        let (now, lease) = (shelf.now, shelf.pool.lease());
        if shelf.pool.epoch.pass_time(now, lease) {
            self.send(Wake::Freed);
        }
        shelf.pool.workers.forget(now.saturating_sub(lease.saturating_mul(2)));
        shelf
    }

    /// One request's stay at the pool; its wake-ups go out at the end.
    fn turn<T>(&self, at: &At, stay: impl FnOnce(&mut Turn<'_>) -> T) -> T {
        let mut shelf = self.lock();
        let now = shelf.now;
        let mut turn = Turn {
            pool: &mut shelf.pool,
            now,
            at,
            events: self.events.as_ref(),
            wakes: Vec::new(),
            returned: BTreeSet::new(),
        };
        let answer = stay(&mut turn);
        let Turn { wakes, returned, .. } = turn;
        drop(shelf);
        wakes.into_iter().for_each(|wake| self.send(wake));
        if !returned.is_empty() {
            self.send(Wake::Nudged(returned.into_iter().collect()));
        }
        answer
    }

    /// Sends a hint to whoever listens.
    fn send(&self, wake: Wake) {
        drop(self.wakes.send(wake));
    }
}

/// Whole milliseconds.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
