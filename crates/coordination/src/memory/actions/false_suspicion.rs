//! `FalseSuspicion`: reservations past their deadline end, though their workers may live.
//!
//! Promises: the oldest first, at most as many as asked for; the dispatcher is told of their jobs. The
//! worker learns of it when its activation is refused.

use protocol::{Action, Guard, ReservationId, Stamped};

use crate::DroppedReservation;
use crate::memory::reservations::Ending;
use crate::memory::turn::{Done, Note, Turn};

#[doc(alias = "FalseSuspicion")]
pub(in crate::memory) fn false_suspicion(
    turn: &mut Turn<'_>,
    limit: usize,
) -> Vec<Stamped<DroppedReservation>> {
    if let Err(guard) = turn.current() {
        return vec![turn.refuse_quietly(guard)];
    }
    let overdue = turn.pool.reservations.overdue(turn.now, limit);
    overdue.into_iter().map(|reservation| drop_one(turn, reservation)).collect()
}

fn drop_one(turn: &mut Turn<'_>, reservation: ReservationId) -> Stamped<DroppedReservation> {
    let Some(held) = turn.pool.end_reservation(reservation, Ending::Other) else {
        return turn.refuse_quietly(Guard::ReservationHeld);
    };
    turn.give_back(held.job);
    let note = Note {
        worker: Some(held.worker),
        reservation: Some(reservation),
        ..Note::of(Action::FalseSuspicion, held.job)
    };
    let dropped = DroppedReservation { job: held.job, reservation, worker: held.worker };
    turn.answer(&note, Ok(Done::Now(dropped)))
}
