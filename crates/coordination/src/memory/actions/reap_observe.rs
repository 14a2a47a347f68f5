//! `ReapObserve`: a reaper sees that an attempt has neither a live lease nor a reservation of its own worker.
//!
//! Promises: nothing is judged while the pool is opening; an attempt of an older epoch is judged only after
//! the grace, except by the worker that holds it, which knows that it does not execute (rules 2, 3 and 9).
//! Changes nothing; the durable room revokes.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::ReapObserve;
use crate::memory::turn::{Decision, Done, Note, Turn};

#[doc(alias = "ReapObserve")]
pub(in crate::memory) fn reap_observe(turn: &mut Turn<'_>, request: &ReapObserve) -> Stamped<()> {
    let note = Note {
        attempt: Some(request.attempt),
        worker: Some(request.worker),
        ..Note::of(Action::ReapObserve, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &Turn<'_>, request: &ReapObserve) -> Decision<()> {
    turn.current()?;
    let pool = &*turn.pool;
    need(pool.epoch.open, Guard::Opening)?;
    let older = request.claimed_epoch != pool.epoch.number;
    need(!older || request.by_holder || pool.epoch.grace_over, Guard::Grace)?;
    need(pool.leases.get(request.attempt).is_none(), Guard::LeaseNotLive)?;
    need(!pool.reserved_by(request.job, request.worker), Guard::ReservationNotHeld)?;
    Ok(Done::Now(()))
}
