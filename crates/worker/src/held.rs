//! What this worker holds: reservations and leases, shared between attempts and the lease keeper.

use std::collections::BTreeMap;
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
        self.inside().leases.remove(&attempt)
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
