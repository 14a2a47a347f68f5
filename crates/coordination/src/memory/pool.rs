//! The pool: all that is decided together, in one place behind one lock.
//!
//! Promises: places in use are derived from what is held (reservations, live leases, `unaccounted`), never
//! counted by hand; a fresh pool is what a loss leaves behind. Does not check guards: the actions do.
//! The spec speaks of it as `coordinationVars`; protocol rules 7 and 9.

use std::time::Duration;

use protocol::{AttemptId, JobId, Mark, ReservationId};

use super::epoch::{Ended, Epoch};
use super::jobs::{Jobs, Shown};
use super::leases::{LeaseRow, Leases};
use super::reservations::{Ending, Reservation, Reservations};
use super::windows::Windows;
use super::workers::Workers;
use crate::{PoolConfig, PoolState};

/// The lease length until a configuration is copied in.
const LEASE_MS: u64 = 15_000;

/// Everything the room holds.
#[derive(Clone)]
pub(super) struct Pool {
    pub(super) epoch: Epoch,
    /// Raised by every step that changes something or is recorded.
    pub(super) order: u64,
    pub(super) config: PoolConfig,
    pub(super) windows: Windows,
    pub(super) reservations: Reservations,
    pub(super) leases: Leases,
    pub(super) jobs: Jobs,
    pub(super) workers: Workers,
}

impl Pool {
    /// An empty store, as at the start and after a loss. It has no place until it is configured.
    pub(super) fn empty() -> Self {
        Self {
            epoch: Epoch::default(),
            order: 0,
            config: PoolConfig { revision: 0, global_limit: 0, lease_ms: LEASE_MS, paused: Vec::new() },
            windows: Windows::default(),
            reservations: Reservations::default(),
            leases: Leases::default(),
            jobs: Jobs::default(),
            workers: Workers::default(),
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { epoch: self.epoch.number, order: self.order }
    }

    pub(super) fn lease(&self) -> Duration {
        Duration::from_millis(self.config.lease_ms)
    }

    /// Reservations, live leases and attempts unaccounted for.
    pub(super) fn in_use(&self) -> usize {
        self.reservations.len() + self.leases.len() + self.epoch.unaccounted()
    }

    pub(super) fn has_place(&self) -> bool {
        u64::try_from(self.in_use()).is_ok_and(|in_use| in_use < u64::from(self.config.global_limit))
    }

    /// Whether this worker holds a reservation of this job.
    pub(super) fn reserved_by(&self, job: JobId, worker: protocol::Incarnation) -> bool {
        let id = self.jobs.reservation(job);
        id.and_then(|id| self.reservations.get(id)).is_some_and(|held| held.worker == worker)
    }

    pub(super) fn add_reservation(&mut self, id: ReservationId, reservation: Reservation, now: Duration) {
        self.jobs.change(reservation.job, |row| row.reservation = Some(id));
        let deadline = now.saturating_add(self.lease());
        self.reservations.insert(id, reservation, deadline);
    }

    pub(super) fn end_reservation(&mut self, id: ReservationId, ending: Ending) -> Option<Reservation> {
        let ended = self.reservations.end(id, ending)?;
        self.jobs.change(ended.job, |row| row.reservation = None);
        Some(ended)
    }

    /// The attempt executes under a live lease, and is the one whose progress is shown.
    pub(super) fn add_lease(&mut self, attempt: AttemptId, lease: LeaseRow, now: Duration) {
        self.jobs.change(lease.job, |row| {
            row.leases.push(attempt);
            row.shown = Some(Shown { attempt, progress: None });
        });
        let length = self.lease();
        self.leases.insert(attempt, lease, now, length);
        self.epoch.leased(attempt);
    }

    /// The lease is gone, and with it the progress that its attempt showed.
    pub(super) fn end_lease(&mut self, attempt: AttemptId, ended: Ended) -> Option<LeaseRow> {
        let lease = self.leases.remove(attempt)?;
        self.epoch.end(attempt, ended);
        self.jobs.change(lease.job, |row| {
            row.leases.retain(|held| *held != attempt);
            row.shown.take_if(|shown| shown.attempt == attempt);
        });
        Some(lease)
    }

    pub(super) fn state(&self, now: Duration) -> PoolState {
        PoolState {
            mark: self.mark(),
            installation: self.epoch.installation,
            open: self.epoch.open,
            epoch_age_ms: match self.epoch.number {
                0 => 0,
                _ => super::millis(now.saturating_sub(self.epoch.began)),
            },
            grace_over: self.epoch.grace_over,
            config: self.config.clone(),
            leases: self.leases.len(),
            reservations: self.reservations.len(),
            unaccounted: self.epoch.unaccounted(),
            queued: self.windows.len(),
        }
    }
}
