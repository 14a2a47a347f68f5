//! Reservations: places given to workers that have not begun yet.
//!
//! Promises: looked up by their exact id; the ids of the last ended ones are remembered, so that a repeated
//! request neither takes a second place nor fails where it had succeeded. Does not decide who may end one.
//! The spec speaks of it as `reservation`; protocol rules 4, 5 and 8.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use protocol::{Incarnation, JobId, ReservationId, Window};

/// Ended reservations that are remembered. At a hundred thousand a second this is a third of a second; a
/// repeat that comes later than that is answered as a stranger, which costs at most an unused place for one
/// lease length.
const REMEMBERED: usize = 32_768;

/// How a reservation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Its worker gave it back.
    HandedBack,
    /// A judge of the job took it back.
    Released,
    /// It became a lease, passed its deadline, or went with its terminal job.
    Other,
}

/// A place that is held.
#[derive(Clone)]
pub(super) struct Reservation {
    pub(super) job: JobId,
    pub(super) worker: Incarnation,
    pub(super) window: Arc<Window>,
    pub(super) checkpoint_revision: u64,
    deadline: Duration,
}

/// All reservations of the pool.
#[derive(Clone, Default)]
pub(super) struct Reservations {
    held: BTreeMap<ReservationId, Reservation>,
    deadlines: BTreeSet<(Duration, ReservationId)>,
    ended: BTreeMap<ReservationId, (JobId, Incarnation, Ending)>,
    ended_order: VecDeque<ReservationId>,
}

impl Reservation {
    pub(super) fn new(worker: Incarnation, entry: super::windows::Entry) -> Self {
        Self {
            job: entry.job,
            worker,
            window: entry.window,
            checkpoint_revision: entry.checkpoint_revision,
            deadline: Duration::ZERO,
        }
    }
}

impl Reservations {
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    pub(super) fn get(&self, id: ReservationId) -> Option<&Reservation> {
        self.held.get(&id)
    }

    /// The reservation, if this worker holds it for this job.
    pub(super) fn held_by(&self, id: ReservationId, job: JobId, worker: Incarnation) -> bool {
        self.held.get(&id).is_some_and(|held| held.job == job && held.worker == worker)
    }

    /// How an earlier reservation of this id ended, as far as remembered.
    pub(super) fn ending(&self, id: ReservationId) -> Option<(JobId, Incarnation, Ending)> {
        self.ended.get(&id).copied()
    }

    pub(super) fn insert(&mut self, id: ReservationId, reservation: Reservation, deadline: Duration) {
        self.held.insert(id, reservation);
        self.renew(id, deadline);
    }

    pub(super) fn renew(&mut self, id: ReservationId, deadline: Duration) {
        if let Some(held) = self.held.get_mut(&id) {
            self.deadlines.remove(&(held.deadline, id));
            held.deadline = deadline;
            self.deadlines.insert((deadline, id));
        }
    }

    pub(super) fn end(&mut self, id: ReservationId, ending: Ending) -> Option<Reservation> {
        let held = self.held.remove(&id)?;
        self.deadlines.remove(&(held.deadline, id));
        if self.ended_order.len() == REMEMBERED
            && let Some(oldest) = self.ended_order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        self.ended.insert(id, (held.job, held.worker, ending));
        self.ended_order.push_back(id);
        Some(held)
    }

    /// The reservations whose deadline has passed, the oldest first.
    pub(super) fn overdue(&self, now: Duration, limit: usize) -> Vec<ReservationId> {
        let due = self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now);
        due.take(limit).map(|(_, id)| *id).collect()
    }
}
