//! `ActivateAttempt`: the exact reservation becomes the lease of the attempt that was claimed with it.
//!
//! Promises: no moment at which the place is free; the same attempt again, its lease live, is taken and
//! makes the lease young. Does not know whether the attempt still has authority.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::memory::leases::LeaseRow;
use crate::memory::reservations::Ending;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::{ActivateAttempt, Lease};

#[doc(alias = "ActivateAttempt")]
pub(in crate::memory) fn activate_attempt(turn: &mut Turn<'_>, request: &ActivateAttempt) -> Stamped<Lease> {
    let note = Note {
        attempt: Some(request.attempt),
        token: Some(request.token),
        worker: Some(request.worker),
        reservation: Some(request.reservation),
        judged: &request.judged,
        ..Note::of(Action::ActivateAttempt, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &ActivateAttempt) -> Decision<Lease> {
    turn.current()?;
    let lease_ms = turn.pool.config.lease_ms;
    if turn.pool.leases.held_by(request.attempt, request.job, request.worker) {
        let length = turn.pool.lease();
        turn.pool.leases.renew(request.attempt, turn.now, length);
        return Ok(Done::Before(Lease { lease_ms }));
    }
    let held = turn.pool.reservations.held_by(request.reservation, request.job, request.worker);
    need(held && turn.pool.leases.get(request.attempt).is_none(), Guard::ReservationHeld)?;
    turn.pool.end_reservation(request.reservation, Ending::Other);
    let lease = LeaseRow::new(request.job, request.token, request.worker);
    turn.pool.add_lease(request.attempt, lease, turn.now);
    Ok(Done::Now(Lease { lease_ms }))
}
