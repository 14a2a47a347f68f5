//! What all agents of a process share: rooms, count of requests, the epoch adopted, hints.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coordination::{At, CoordinationRoom, ReapObserve};
use durable::{DurableRoom, RunningAttempt};
use protocol::{Fault, Guard, JobId, Mark, Stamped, Step};
use runtime::{Caller, Runtime, Sent};
use target::Target;
use tokio::sync::Notify;

/// The three rooms, as the agents reach them.
#[derive(Clone)]
pub struct AgentRooms {
    /// Truth.
    pub durable: Arc<dyn DurableRoom>,
    /// Coordination.
    pub coordination: Arc<dyn CoordinationRoom>,
    /// Results.
    pub target: Arc<dyn Target>,
}

/// The ground that agents stand on.
pub struct Ground {
    pub(crate) rooms: AgentRooms,
    pub(crate) runtime: Runtime,
    caller: Caller,
    /// The epoch adopted; 0 while none is known.
    epoch: AtomicU64,
    /// The highest moment of coordination that this process has seen.
    highest: Mutex<Mark>,
    /// An epoch of which an old state came back.
    distrusted: AtomicU64,
    lease_ms: AtomicU64,
    /// Jobs that may be dispatchable: hints from nudges, hand-backs and retries.
    offered: Mutex<BTreeSet<JobId>>,
    /// Jobs whose rows changed: hints for canceller and cleaner.
    changed: Mutex<BTreeSet<JobId>>,
    pub(crate) wake: Wakes,
}

/// A request to coordination.
pub(crate) struct Asking {
    pub(crate) sent: Sent,
    pub(crate) at: At,
    /// The highest moment seen before it was sent.
    pub(crate) seen: Mark,
}

/// One bell an agent.
#[derive(Default)]
pub(crate) struct Wakes {
    pub(crate) dispatcher: Arc<Notify>,
    pub(crate) reaper: Arc<Notify>,
    pub(crate) retry_scheduler: Arc<Notify>,
    pub(crate) canceller: Arc<Notify>,
    pub(crate) cleaner: Arc<Notify>,
    pub(crate) epoch_keeper: Arc<Notify>,
}

/// Hints are bounded: a flood is served by the passes that read the stores anyway.
const HINTS: usize = 20_000;

impl Ground {
    /// A ground over these rooms.
    #[must_use]
    pub fn new(rooms: AgentRooms, runtime: Runtime) -> Arc<Self> {
        let caller = Caller::new(runtime.new_actor_id());
        Arc::new(Self {
            rooms,
            runtime,
            caller,
            epoch: AtomicU64::new(0),
            highest: Mutex::default(),
            distrusted: AtomicU64::new(0),
            lease_ms: AtomicU64::new(15_000),
            offered: Mutex::default(),
            changed: Mutex::default(),
            wake: Wakes::default(),
        })
    }

    pub(crate) fn send(&self) -> Sent {
        self.caller.send()
    }

    /// A request to coordination; `None` while no epoch is known.
    pub(crate) fn send_at(&self) -> Option<Asking> {
        let epoch = self.epoch.load(Ordering::Acquire);
        if epoch == 0 {
            return None;
        }
        let seen = self.seen();
        let sent = self.caller.send();
        let at = At { origin: sent.origin, epoch };
        Some(Asking { sent, at, seen })
    }

    /// The highest moment of coordination that this process has seen.
    pub(crate) fn seen(&self) -> Mark {
        *self.highest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a moment that was answered. Whether an old state has come back (rule 9): it lies before one that had
    /// been seen when the question was sent, or is of an epoch of which an old state came back before.
    pub(crate) fn is_old(&self, mark: Mark, seen: Mark) -> bool {
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        *highest = (*highest).max(mark);
        drop(highest);
        if mark < seen && mark.epoch == seen.epoch {
            self.distrusted.fetch_max(mark.epoch, Ordering::AcqRel);
        }
        mark < seen || mark.epoch > 0 && mark.epoch == self.distrusted.load(Ordering::Acquire)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Adopts an epoch; whether it is another one than before.
    pub(crate) fn adopt(&self, epoch: u64) -> bool {
        self.epoch.swap(epoch, Ordering::AcqRel) != epoch
    }

    /// Somebody was answered *stale*: the epoch has to be learned again.
    pub(crate) fn stale(&self) {
        self.epoch.store(0, Ordering::Release);
        self.wake.epoch_keeper.notify_one();
    }

    /// Whether any answer says that the epoch is another one, or is of an old state that came back. Nothing may rest on
    /// such answers.
    pub(crate) fn check_stale<T>(&self, seen: Mark, answers: &[Stamped<T>]) -> bool {
        let stale = answers
            .iter()
            .any(|answer| answer.step.refused() == Some(Guard::Stale) || self.is_old(answer.mark, seen));
        if stale {
            self.stale();
        }
        stale
    }

    /// The same of a read that names its moment.
    pub(crate) fn check_old(&self, seen: Mark, mark: Mark) -> bool {
        let old = self.is_old(mark, seen);
        if old {
            self.stale();
        }
        old
    }

    /// Until the durable room makes something due, where that is before the time given.
    pub(crate) async fn until_next_due(&self, before: Duration) -> Result<Option<Duration>, Fault> {
        let due = self.rooms.durable.next_due().await?;
        let next = due.at.map(|at| Duration::from_millis(at.since_ms(due.now) + 1));
        Ok(next.filter(|next| *next < before))
    }

    pub(crate) fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms.load(Ordering::Acquire).max(1))
    }

    pub(crate) fn set_lease_ms(&self, lease_ms: u64) {
        self.lease_ms.store(lease_ms, Ordering::Release);
    }

    /// Hints that these jobs may be dispatchable.
    pub(crate) fn offer(&self, jobs: impl IntoIterator<Item = JobId>) {
        add(&self.offered, jobs);
        self.wake.dispatcher.notify_one();
    }

    pub(crate) fn take_offered(&self) -> Vec<JobId> {
        take(&self.offered)
    }

    /// Hints that the rows of these jobs changed.
    pub(crate) fn nudged(&self, jobs: &[JobId]) {
        add(&self.changed, jobs.iter().copied());
        self.offer(jobs.iter().copied());
        self.wake.canceller.notify_one();
        self.wake.cleaner.notify_one();
        self.wake.retry_scheduler.notify_one();
    }

    pub(crate) fn take_changed(&self) -> Vec<JobId> {
        take(&self.changed)
    }
}

/// How many steps of a batch were taken.
pub(crate) fn taken<T>(answers: &[Stamped<T>]) -> u64 {
    count(answers.iter().filter(|answer| matches!(answer.step, Step::Taken(_))).count())
}

/// The requests of a batch whose steps were taken, with their answers' marks.
pub(crate) fn those_taken<'batch, R, T>(
    batch: &'batch [R],
    answers: &[Stamped<T>],
) -> impl Iterator<Item = (&'batch R, Mark)> {
    let marks = answers.iter().map(|answer| matches!(answer.step, Step::Taken(_)).then_some(answer.mark));
    batch.iter().zip(marks).filter_map(|(request, mark)| Some((request, mark?)))
}

/// A number of things, as reports count.
pub(crate) fn count(things: usize) -> u64 {
    u64::try_from(things).unwrap_or(u64::MAX)
}

/// The reaper's question about a running attempt, asked by somebody else than its worker.
pub(crate) fn observe(running: &RunningAttempt) -> ReapObserve {
    ReapObserve {
        job: running.job,
        attempt: running.attempt,
        worker: running.worker,
        claimed_epoch: running.epoch,
        by_holder: false,
    }
}

fn add(set: &Mutex<BTreeSet<JobId>>, jobs: impl IntoIterator<Item = JobId>) {
    let mut set = set.lock().unwrap_or_else(PoisonError::into_inner);
    for job in jobs {
        if set.len() >= HINTS {
            return;
        }
        set.insert(job);
    }
}

fn take(set: &Mutex<BTreeSet<JobId>>) -> Vec<JobId> {
    std::mem::take(&mut *set.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
}
