//! Leases: what says that an attempt is alive, one per attempt and incarnation.
//!
//! Promises: a lease is live until it is expired or released, also past its deadline (as in the spec, where
//! only `ExpireLease` ends a lease by age); finding those past it is logarithmic. Does not end any by itself.
//! The spec speaks of it as `leaseState` and `leaseAge`; protocol rule 8.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::{AttemptId, Incarnation, JobId, Token};

use crate::HeldLease;

/// A live lease.
#[derive(Clone, Copy)]
pub(super) struct LeaseRow {
    pub(super) job: JobId,
    pub(super) token: Token,
    pub(super) worker: Incarnation,
    /// Whether a renewal of it has been recorded; the later ones are merged into that one.
    pub(super) renewal_recorded: bool,
    renewed_at: Duration,
    deadline: Duration,
}

/// All live leases of the pool.
#[derive(Clone, Default)]
pub(super) struct Leases {
    live: BTreeMap<AttemptId, LeaseRow>,
    deadlines: BTreeSet<(Duration, AttemptId)>,
    workers: BTreeSet<(Incarnation, AttemptId)>,
}

impl LeaseRow {
    pub(super) fn new(job: JobId, token: Token, worker: Incarnation) -> Self {
        Self {
            job,
            token,
            worker,
            renewal_recorded: false,
            renewed_at: Duration::ZERO,
            deadline: Duration::ZERO,
        }
    }
}

impl Leases {
    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    pub(super) fn get(&self, attempt: AttemptId) -> Option<&LeaseRow> {
        self.live.get(&attempt)
    }

    /// Whether this incarnation holds this attempt's lease.
    pub(super) fn held_by(&self, attempt: AttemptId, job: JobId, worker: Incarnation) -> bool {
        self.live.get(&attempt).is_some_and(|lease| lease.job == job && lease.worker == worker)
    }

    pub(super) fn insert(&mut self, attempt: AttemptId, lease: LeaseRow, now: Duration, length: Duration) {
        self.workers.insert((lease.worker, attempt));
        self.live.insert(attempt, lease);
        self.renew(attempt, now, length);
    }

    /// Makes it young again.
    pub(super) fn renew(&mut self, attempt: AttemptId, now: Duration, length: Duration) {
        if let Some(lease) = self.live.get_mut(&attempt) {
            self.deadlines.remove(&(lease.deadline, attempt));
            lease.renewed_at = now;
            lease.deadline = now.saturating_add(length);
            self.deadlines.insert((lease.deadline, attempt));
        }
    }

    /// Marks that a renewal has been recorded; answers whether none had been before.
    pub(super) fn first_renewal(&mut self, attempt: AttemptId) -> bool {
        self.live.get_mut(&attempt).is_some_and(|lease| !std::mem::replace(&mut lease.renewal_recorded, true))
    }

    pub(super) fn remove(&mut self, attempt: AttemptId) -> Option<LeaseRow> {
        let lease = self.live.remove(&attempt)?;
        self.deadlines.remove(&(lease.deadline, attempt));
        self.workers.remove(&(lease.worker, attempt));
        Some(lease)
    }

    /// The attempts whose lease is past its length, the oldest first.
    pub(super) fn overdue(&self, now: Duration, limit: usize) -> Vec<AttemptId> {
        let due = self.deadlines.iter().take_while(|(deadline, _)| *deadline <= now);
        due.take(limit).map(|(_, attempt)| *attempt).collect()
    }

    /// The leases of one worker.
    pub(super) fn of_worker(&self, worker: Incarnation, now: Duration) -> Vec<HeldLease> {
        let range = (worker, AttemptId(0))..=(worker, AttemptId(u128::MAX));
        self.workers.range(range).filter_map(|(_, attempt)| self.view(*attempt, now)).collect()
    }

    /// A lease, as people and agents see it.
    pub(super) fn view(&self, attempt: AttemptId, now: Duration) -> Option<HeldLease> {
        self.live.get(&attempt).map(|lease| HeldLease {
            job: lease.job,
            attempt,
            token: lease.token,
            worker: lease.worker,
            age_ms: super::millis(now.saturating_sub(lease.renewed_at)),
        })
    }
}
