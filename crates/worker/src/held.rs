//! What this worker holds: reservations and leases, shared between attempts and the lease keeper.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordination::HandBack;
use protocol::{AttemptId, JobId, ReservationId, Token};
use tokio::sync::watch;

use crate::control::Stop;

/// A lease as the keeper sees it.
#[derive(Clone)]
pub(crate) struct HeldLease {
    pub(crate) job: JobId,
    pub(crate) attempt: AttemptId,
    pub(crate) token: Token,
    /// The epoch in which it was given, renewed or restored last.
    pub(crate) epoch: u64,
    /// Where the deadline goes: to the attempt, and from there to its warden.
    pub(crate) deadline: watch::Sender<Duration>,
    /// Where orders to stop go.
    pub(crate) stop: watch::Sender<Stop>,
}

impl HeldLease {
    /// Orders a stop; a lesser one never replaces a graver one.
    pub(crate) fn stop(&self, stop: Stop) {
        raise(&self.stop, stop);
    }
}

/// Raises an order to stop to at least this gravity.
pub(crate) fn raise(sender: &watch::Sender<Stop>, stop: Stop) {
    sender.send_if_modified(|current| {
        let graver = stop > *current;
        if graver {
            *current = stop;
        }
        graver
    });
}

#[derive(Default)]
struct Inside {
    reservations: BTreeMap<ReservationId, HandBack>,
    leases: BTreeMap<AttemptId, HeldLease>,
    /// Those of them whose attempts have stopped, and are only reported.
    stopped: BTreeSet<AttemptId>,
}

/// Everything held.
#[derive(Default)]
pub(crate) struct Held(Mutex<Inside>);

impl Held {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_reservation(&self, hand_back: HandBack) {
        self.inside().reservations.insert(hand_back.reservation, hand_back);
    }

    pub(crate) fn remove_reservation(&self, reservation: ReservationId) {
        self.inside().reservations.remove(&reservation);
    }

    pub(crate) fn reservations(&self) -> Vec<HandBack> {
        self.inside().reservations.values().copied().collect()
    }

    pub(crate) fn add_lease(&self, lease: HeldLease) {
        self.inside().leases.insert(lease.attempt, lease);
    }

    pub(crate) fn remove_lease(&self, attempt: AttemptId) -> Option<HeldLease> {
        let mut inside = self.inside();
        inside.stopped.remove(&attempt);
        inside.leases.remove(&attempt)
    }

    /// Nothing of this attempt runs any more: its lease is neither renewed nor put back.
    pub(crate) fn has_stopped(&self, attempt: AttemptId) {
        self.inside().stopped.insert(attempt);
    }

    /// The leases to be kept.
    pub(crate) fn kept(&self) -> Vec<HeldLease> {
        let inside = self.inside();
        let kept = inside.leases.values().filter(|lease| !inside.stopped.contains(&lease.attempt));
        kept.cloned().collect()
    }

    /// Whether the attempt is there, has not stopped, and has not been told that its lease is lost.
    pub(crate) fn goes_on(&self, attempt: AttemptId) -> bool {
        let inside = self.inside();
        let lease = inside.leases.get(&attempt).filter(|_| !inside.stopped.contains(&attempt));
        lease.is_some_and(|lease| *lease.stop.borrow() < Stop::LeaseLost)
    }

    pub(crate) fn has_lease(&self, attempt: AttemptId) -> bool {
        self.inside().leases.contains_key(&attempt)
    }

    pub(crate) fn leases(&self) -> Vec<HeldLease> {
        self.inside().leases.values().cloned().collect()
    }

    /// A lease is young again: renewed or restored by a request sent at `sent`.
    pub(crate) fn extend(&self, attempt: AttemptId, epoch: u64, deadline: Duration) {
        if let Some(lease) = self.inside().leases.get_mut(&attempt) {
            lease.epoch = epoch;
            lease.deadline.send_replace(deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_goes_on_until_its_lease_is_lost_or_given_back() {
        let held = Held::default();
        let attempt = AttemptId(1);
        let lease = HeldLease {
            job: JobId(2),
            attempt,
            token: Token(1),
            epoch: 1,
            deadline: watch::channel(Duration::ZERO).0,
            stop: watch::channel(Stop::None).0,
        };
        assert!(!held.goes_on(attempt));
        held.add_lease(lease.clone());
        lease.stop(Stop::Cancel);
        assert!(held.goes_on(attempt), "a cancel ends under its lease");
        lease.stop(Stop::LeaseLost);
        assert!(!held.goes_on(attempt));
        held.add_lease(HeldLease { stop: watch::channel(Stop::None).0, ..lease });
        assert!(held.goes_on(attempt));
        held.has_stopped(attempt);
        assert!(!held.goes_on(attempt) && held.kept().is_empty() && held.has_lease(attempt));
        held.remove_lease(attempt);
        assert!(!held.has_lease(attempt));
    }

    #[test]
    fn a_graver_stop_replaces_a_lesser_one_and_never_the_other_way() {
        let (sender, receiver) = watch::channel(Stop::None);
        for (order, then) in
            [(Stop::Cancel, Stop::Cancel), (Stop::Drain, Stop::Cancel), (Stop::LeaseLost, Stop::LeaseLost)]
        {
            raise(&sender, order);
            assert_eq!(*receiver.borrow(), then);
        }
    }
}
