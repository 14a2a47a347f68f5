//! `Reserve`: the first entry of the windows named becomes a place of one worker.
//!
//! Promises: places in use never pass the global limit; the order inside a window is exact; the same
//! reservation id again gives the same entry and no second place. Does not know the worker's own limit: it
//! asks only while it has free slots.

use protocol::{Action, Guard, ReservationId, Stamped, Window};

use super::need;
use crate::memory::reservations::Reservation;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::memory::windows::Offer;
use crate::{Reserve, Reserved};

#[doc(alias = "Reserve")]
pub(in crate::memory) fn reserve(
    turn: &mut Turn<'_>,
    request: &Reserve,
    id: ReservationId,
) -> Stamped<Reserved> {
    match decide(turn, request, id) {
        Err(
            guard @ (Guard::Stale | Guard::Opening | Guard::GlobalLimit | Guard::QueuePaused | Guard::Queued),
        ) => turn.refuse_quietly(guard),
        decision => {
            let job = turn.pool.reservations.get(id).map(|held| held.job);
            let Some(job) = job.or_else(|| turn.pool.reservations.ending(id).map(|(job, ..)| job)) else {
                return turn.refuse_quietly(Guard::ReservationHeld);
            };
            let note = Note {
                worker: Some(request.worker),
                reservation: Some(id),
                ..Note::of(Action::Reserve, job)
            };
            turn.answer(&note, decision)
        }
    }
}

fn decide(turn: &mut Turn<'_>, request: &Reserve, id: ReservationId) -> Decision<Reserved> {
    turn.current()?;
    need(turn.pool.epoch.open, Guard::Opening)?;
    if let Some(held) = turn.pool.reservations.get(id).cloned() {
        need(held.worker == request.worker, Guard::ReservationHeld)?;
        let deadline = turn.now.saturating_add(turn.pool.lease());
        turn.pool.reservations.renew(id, deadline);
        return Ok(Done::Before(reserved(turn, id, &held)));
    }
    need(turn.pool.reservations.ending(id).is_none(), Guard::ReservationHeld)?;
    need(turn.pool.has_place(), Guard::GlobalLimit)?;
    let entry = match turn.pool.windows.offer(&request.windows, &turn.pool.config.paused) {
        Offer::First(job) => turn.pool.windows.take(job),
        Offer::Paused => return Err(Guard::QueuePaused),
        Offer::Nothing => None,
    };
    let held = Reservation::new(request.worker, entry.ok_or(Guard::Queued)?);
    turn.pool.add_reservation(id, held.clone(), turn.now);
    Ok(Done::Now(reserved(turn, id, &held)))
}

fn reserved(turn: &Turn<'_>, id: ReservationId, held: &Reservation) -> Reserved {
    Reserved {
        reservation: id,
        job: held.job,
        window: Window::clone(&held.window),
        checkpoint_revision: held.checkpoint_revision,
        lease_ms: turn.pool.config.lease_ms,
    }
}
