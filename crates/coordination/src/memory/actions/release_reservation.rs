//! `ReleaseReservation`: a place that nobody will use is taken back.
//!
//! Promises: only the exact reservation that was judged; a newer one of the same job is not touched. A
//! repeated release is answered as the first was.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::ReleaseReservation;
use crate::memory::reservations::Ending;
use crate::memory::turn::{Decision, Done, Note, Turn};

#[doc(alias = "ReleaseReservation")]
pub(in crate::memory) fn release_reservation(
    turn: &mut Turn<'_>,
    request: &ReleaseReservation,
) -> Stamped<()> {
    let note = Note {
        worker: turn.pool.reservations.get(request.reservation).map(|held| held.worker),
        reservation: Some(request.reservation),
        judged: &request.judged,
        ..Note::of(Action::ReleaseReservation, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &ReleaseReservation) -> Decision<()> {
    turn.current()?;
    let reservations = &turn.pool.reservations;
    if let Some((job, _, Ending::Released)) = reservations.ending(request.reservation)
        && job == request.job
    {
        return Ok(Done::Before(()));
    }
    let held = reservations.get(request.reservation).is_some_and(|held| held.job == request.job);
    need(held, Guard::ReservationHeld)?;
    turn.pool.end_reservation(request.reservation, Ending::Released);
    turn.give_back(request.job);
    Ok(Done::Now(()))
}
