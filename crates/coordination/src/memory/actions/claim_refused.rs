//! `ClaimRefused`: a worker whose claim was refused hands its reservation back, at once (rule 1). And its
//! opposite: the worker says that it still means to use it.
//!
//! Promises: only the exact reservation of that worker; a repeated hand-back is answered as the first was.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::HandBack;
use crate::memory::reservations::Ending;
use crate::memory::turn::{Decision, Done, Note, Turn};

#[doc(alias = "ClaimRefused")]
pub(in crate::memory) fn claim_refused(turn: &mut Turn<'_>, request: &HandBack) -> Stamped<()> {
    let note = Note {
        worker: Some(request.worker),
        reservation: Some(request.reservation),
        ..Note::of(Action::ClaimRefused, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &HandBack) -> Decision<()> {
    turn.current()?;
    let handed_back = (request.job, request.worker, Ending::HandedBack);
    if turn.pool.reservations.ending(request.reservation) == Some(handed_back) {
        return Ok(Done::Before(()));
    }
    let held = turn.pool.reservations.held_by(request.reservation, request.job, request.worker);
    need(held, Guard::ReservationHeld)?;
    turn.pool.end_reservation(request.reservation, Ending::HandedBack);
    turn.give_back(request.job);
    Ok(Done::Now(()))
}

/// Renews a reservation's deadline. No action of the spec: a deadline is what `FalseSuspicion` stands for.
pub(in crate::memory) fn renew_reservation(turn: &mut Turn<'_>, request: &HandBack) -> Stamped<()> {
    let decision = turn.current().and_then(|()| {
        let held = turn.pool.reservations.held_by(request.reservation, request.job, request.worker);
        need(held, Guard::ReservationHeld)?;
        let deadline = turn.now.saturating_add(turn.pool.lease());
        turn.pool.reservations.renew(request.reservation, deadline);
        Ok(Done::Before(()))
    });
    turn.answer_unrecorded(decision)
}
