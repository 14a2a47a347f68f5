//! Epochs, configuration and registrations: protocol rules 6, 7 and 9. The spec has only
//! `LoseCoordinationState` of them.

use std::time::Duration;

use protocol::machine::Move;
use protocol::{AttemptId, Guard, Incarnation, InstallationId};

use super::{Ended, Shelf, Verdict, millis, need};
use crate::{PoolConfig, PoolState, Registered, Registration, Wake};

impl Shelf {
    /// The clock goes on: leases age, the grace ends, silent workers are forgotten.
    pub(super) fn pass_time(&mut self, now: Duration) {
        self.now = self.now.max(now);
        if self.epoch > 0 && !self.grace_over && self.now - self.began >= self.lease() {
            self.grace_over = true;
            self.gone.clear();
            if !std::mem::take(&mut self.unaccounted).is_empty() {
                self.wake(Wake::Freed);
            }
        }
        let horizon = self.now.saturating_sub(2 * self.lease());
        self.workers.retain(|_, (_, seen)| *seen >= horizon);
        self.asked_to_drain.retain(|worker| self.workers.contains_key(worker));
        self.age_leases();
    }

    pub(super) fn lose(&mut self) {
        let mut law = std::mem::replace(&mut self.law, super::Variables::new());
        // The model's law bounds how often it happens; a running program's does not.
        let lost = law.step(Move::LoseCoordinationState, usize::MAX);
        debug_assert_eq!(lost, Ok(()), "a store can be lost at any time");
        let now = self.now;
        let wakes = std::mem::take(&mut self.wakes);
        *self = Self { now, wakes, ..Self::empty(law) };
        self.wake(Wake::Epoch);
    }

    pub(super) fn install_epoch(&mut self, epoch: u64, installation: InstallationId) {
        if self.epoch < epoch && self.installation.is_none_or(|whose| whose == installation) {
            self.lose();
            self.epoch = epoch;
            self.installation = Some(installation);
            self.began = self.now;
        }
    }

    pub(super) fn open_epoch(&mut self) {
        if !self.open {
            self.open = true;
            self.wake(Wake::Epoch);
        }
    }

    pub(super) fn account(&mut self, attempts: &[AttemptId]) -> Verdict<()> {
        need(!self.open, Guard::Opening)?;
        for attempt in attempts {
            let known = self.leases.contains_key(attempt) || self.gone.contains_key(attempt);
            if !known && !self.grace_over {
                self.unaccounted.insert(*attempt);
            }
        }
        Ok(())
    }

    pub(super) fn settle(&mut self, attempt: AttemptId) {
        if self.end(attempt, Ended::Seen) {
            self.wake(Wake::Freed);
        }
    }

    pub(super) fn configure(&mut self, config: &PoolConfig) {
        if config.revision > self.config.revision {
            self.config = config.clone();
            self.wake(Wake::Freed);
        }
    }

    pub(super) fn register(&mut self, registration: &Registration) -> Registered {
        let serves = |known: &Registration| (known.queues.clone(), known.kinds.clone(), known.draining);
        let before = self.workers.insert(registration.worker, (registration.clone(), self.now));
        if before.is_none_or(|(before, _)| serves(&before) != serves(registration)) {
            self.wake(Wake::Served);
        }
        let mut windows: Vec<_> = self.entries.values().map(|entry| entry.window.clone()).collect();
        windows.sort_unstable();
        windows.dedup();
        windows.retain(|window| registration.serves(window));
        let drain = self.asked_to_drain.contains(&registration.worker);
        Registered { windows, lease_ms: self.config.lease_ms, drain }
    }

    pub(super) fn request_drain(&mut self, worker: Incarnation) -> bool {
        let known = self.workers.contains_key(&worker);
        if known {
            self.asked_to_drain.insert(worker);
        }
        known
    }

    pub(super) fn deregister(&mut self, worker: Incarnation) {
        self.asked_to_drain.remove(&worker);
        if self.workers.remove(&worker).is_some() {
            self.wake(Wake::Served);
        }
    }

    pub(super) fn pool_state(&self) -> PoolState {
        PoolState {
            mark: self.mark(),
            installation: self.installation,
            open: self.open,
            epoch_age_ms: if self.epoch == 0 { 0 } else { millis(self.now.saturating_sub(self.began)) },
            grace_over: self.grace_over,
            config: self.config.clone(),
            leases: self.leases.len(),
            reservations: self.permits.len(),
            unaccounted: self.unaccounted.len(),
            queued: self.entries.len(),
        }
    }
}
