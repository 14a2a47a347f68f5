//! The epoch: a lifetime of the store, its beginning, and the running work that a loss left without leases.
//!
//! Promises: `unaccounted` empties when the grace ends, a lease length after the epoch began; until then an
//! attempt whose end was seen in this epoch is neither restored nor accounted again. Does not raise epochs:
//! the durable room does.
//! The spec speaks of it as `coordinationLostOnce`; protocol rule 9.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::{AttemptId, Guard, InstallationId};

/// How an attempt's stay in this epoch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// `ExpireLease`.
    ByAge,
    /// `ReleaseLease`, or its end was reported.
    Seen,
}

/// One lifetime of the store.
#[derive(Clone, Default)]
pub(super) struct Epoch {
    /// 0: the store is empty.
    pub(super) number: u64,
    /// Whose pool it is.
    pub(super) installation: Option<InstallationId>,
    pub(super) open: bool,
    pub(super) began: Duration,
    pub(super) grace_over: bool,
    unaccounted: BTreeSet<AttemptId>,
    ended: BTreeMap<AttemptId, Ended>,
}

impl Epoch {
    /// A new lifetime, opening.
    pub(super) fn install(number: u64, installation: InstallationId, now: Duration) -> Self {
        Self { number, installation: Some(installation), began: now, ..Self::default() }
    }

    /// Ends the grace when it is time. Answers whether places became free.
    pub(super) fn pass_time(&mut self, now: Duration, lease: Duration) -> bool {
        if self.grace_over || self.number == 0 || now.saturating_sub(self.began) < lease {
            return false;
        }
        self.grace_over = true;
        self.ended.clear();
        let freed = !self.unaccounted.is_empty();
        self.unaccounted.clear();
        freed
    }

    pub(super) fn unaccounted(&self) -> usize {
        self.unaccounted.len()
    }

    pub(super) fn holds(&self, attempt: AttemptId) -> bool {
        self.unaccounted.contains(&attempt)
    }

    /// Counts an attempt as running somewhere, unless its end is known.
    pub(super) fn account(&mut self, attempt: AttemptId) {
        if !self.grace_over && !self.ended.contains_key(&attempt) {
            self.unaccounted.insert(attempt);
        }
    }

    /// The attempt has a lease now.
    pub(super) fn leased(&mut self, attempt: AttemptId) {
        self.unaccounted.remove(&attempt);
    }

    /// The attempt's stay ended. Answers whether a place became free.
    pub(super) fn end(&mut self, attempt: AttemptId, ended: Ended) -> bool {
        if !self.grace_over {
            self.ended.entry(attempt).or_insert(ended);
        }
        self.unaccounted.remove(&attempt)
    }

    /// Whether a lease of this attempt may be put back now, places apart.
    pub(super) fn may_restore(&self, attempt: AttemptId) -> Result<(), Guard> {
        if self.grace_over {
            return Err(Guard::GraceOver);
        }
        match self.ended.get(&attempt) {
            Some(Ended::ByAge) => Err(Guard::LeaseEndedByAge),
            Some(Ended::Seen) => Err(Guard::Authority),
            None => Ok(()),
        }
    }
}
