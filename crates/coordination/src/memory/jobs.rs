//! What the room holds of a job beside its queue entry: which leases and reservation are its, its cancel
//! notice and the progress shown.
//!
//! Promises: a row exists exactly while something of the job is held; pages come in the order of job ids.
//! Does not hold the leases and reservations themselves.
//! The spec speaks of it as `cancelNotice`, `liveProgress`, `liveProgressAttempt`.

use std::collections::BTreeMap;
use std::ops::Bound;

use protocol::{AttemptId, JobId, ReservationId, UserProgress};

/// The progress shown of a job.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Shown {
    /// By which attempt.
    pub(super) attempt: AttemptId,
    /// What it said; `None` until it has said something.
    pub(super) progress: Option<UserProgress>,
}

/// One job.
#[derive(Clone, Default)]
pub(super) struct JobRow {
    pub(super) leases: Vec<AttemptId>,
    pub(super) reservation: Option<ReservationId>,
    pub(super) notice: bool,
    pub(super) shown: Option<Shown>,
}

impl JobRow {
    fn is_empty(&self) -> bool {
        self.leases.is_empty() && self.reservation.is_none() && !self.notice && self.shown.is_none()
    }
}

/// All jobs of which something is held.
#[derive(Clone, Default)]
pub(super) struct Jobs(BTreeMap<JobId, JobRow>);

impl Jobs {
    pub(super) fn get(&self, job: JobId) -> Option<&JobRow> {
        self.0.get(&job)
    }

    pub(super) fn reservation(&self, job: JobId) -> Option<ReservationId> {
        self.0.get(&job)?.reservation
    }

    pub(super) fn has_lease(&self, job: JobId) -> bool {
        self.0.get(&job).is_some_and(|row| !row.leases.is_empty())
    }

    pub(super) fn noticed(&self, job: JobId) -> bool {
        self.0.get(&job).is_some_and(|row| row.notice)
    }

    /// Changes the job's row; it goes away when nothing is left in it.
    pub(super) fn change<T>(&mut self, job: JobId, change: impl FnOnce(&mut JobRow) -> T) -> T {
        let row = self.0.entry(job).or_default();
        let answer = change(row);
        if row.is_empty() {
            self.0.remove(&job);
        }
        answer
    }

    /// The jobs after one, in order.
    pub(super) fn after(&self, job: Option<JobId>) -> impl Iterator<Item = (JobId, &JobRow)> {
        let start = job.map_or(Bound::Unbounded, Bound::Excluded);
        self.0.range((start, Bound::Unbounded)).map(|(job, row)| (*job, row))
    }
}
