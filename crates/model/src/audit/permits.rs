//! The places of a pool, over all jobs: `PermitSafety`.
//!
//! Promises: a taken place is within the limit that stood then; what the store says is in use is what the replay
//! holds (reservations and live leases) plus attempts unaccounted for, whose number cannot rise once the epoch
//! is open. Relies on the pool's own order, so it takes the events in it.
//! Does not know which attempts are unaccounted for: no event tells when one is counted or forgotten.
//! The spec speaks of it as `PermitSafety`; protocol rules 7 and 9.

use std::collections::HashSet;

use protocol::{Action, AttemptId, Event, Outcome, ReservationId};

use super::failure::{Failure, Why};

/// A pool, as its events tell of it.
#[derive(Debug, Default)]
pub struct Pool {
    epoch: u64,
    order: u64,
    reservations: HashSet<ReservationId>,
    leases: HashSet<AttemptId>,
    /// Places in use that the replay does not hold, once known.
    other: Option<u64>,
    in_use: u64,
    open: bool,
    /// Events may be missing: what the replay holds says nothing.
    gaps: bool,
}

/// Whether an event says anything about places.
pub fn concerns(event: &Event) -> bool {
    event.outcome == Outcome::Taken && event.detail.in_use.is_some()
}

impl Pool {
    /// One of which events may be missing: only the limit is checked.
    #[must_use]
    pub fn with_gaps() -> Self {
        Self { gaps: true, ..Self::default() }
    }

    /// Takes the next event in the pool's order; what is wrong with it, if anything is.
    pub fn take(&mut self, event: &Event) -> Option<Failure> {
        if event.outcome != Outcome::Taken {
            return None;
        }
        if event.epoch > self.epoch {
            *self = Self { epoch: event.epoch, gaps: self.gaps, ..Self::default() };
        }
        let ordered = event.epoch == self.epoch && event.order > self.order;
        if !ordered {
            return Some(failure(event, Why::Order("the pool's order does not rise")));
        }
        self.order = event.order;
        self.hold(event);
        self.count(event).err().map(|why| failure(event, why))
    }

    fn hold(&mut self, event: &Event) {
        let reservation = event.detail.reservation;
        match event.action {
            Action::Reserve => self.reservations.extend(reservation),
            Action::ActivateAttempt => {
                reservation.map(|id| self.reservations.remove(&id));
                self.leases.extend(event.attempt);
            }
            Action::RestoreLease => self.leases.extend(event.attempt),
            Action::ExpireLease | Action::ReleaseLease => {
                event.attempt.map(|id| self.leases.remove(&id));
            }
            Action::ClaimRefused
            | Action::ReleaseReservation
            | Action::FalseSuspicion
            | Action::CleanTerminalCoordination => {
                reservation.map(|id| self.reservations.remove(&id));
            }
            _ => {}
        }
    }

    fn count(&mut self, event: &Event) -> Result<(), Why> {
        let Some(in_use) = event.detail.in_use.map(u64::from) else { return Ok(()) };
        let before = std::mem::replace(&mut self.in_use, in_use);
        let within = event.detail.limit.is_none_or(|limit| in_use <= u64::from(limit));
        let took = match event.action {
            Action::Reserve => true,
            // Until it is open, attempts are accounted for without an event, also more than there are places: one whose
            // lease had ended may not have been revoked when another one took its place.
            Action::RestoreLease => self.open && in_use > before,
            _ => false,
        };
        if took && !within {
            return Err(Why::Broken("PermitSafety"));
        }
        if self.gaps {
            return Ok(());
        }
        let held = u64::try_from(self.reservations.len() + self.leases.len()).unwrap_or(u64::MAX);
        let Some(other) = in_use.checked_sub(held) else {
            return Err(effect(in_use, format!("at least {held}")));
        };
        if self.open && self.other.is_some_and(|known| other > known) {
            let most = held + self.other.unwrap_or(0);
            return Err(effect(in_use, format!("at most {most}")));
        }
        self.other = Some(other);
        self.open |= event.action == Action::Reserve;
        Ok(())
    }
}

fn effect(recorded: u64, replayed: String) -> Why {
    Why::Effect { what: "places in use", recorded: recorded.to_string(), replayed }
}

fn failure(event: &Event, why: Why) -> Failure {
    Failure { job: event.job, event: event.clone(), why, prefix: vec![event.clone()] }
}
