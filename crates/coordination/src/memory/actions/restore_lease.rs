//! `RestoreLease`: after a loss, a worker that still executes puts its lease back.
//!
//! Promises: only inside the grace; an attempt counted in `unaccounted` keeps its place, another one needs a
//! free place; a lease that ended by age in this epoch stays ended. Live already is taken, and young again.
//! Does not know whether the attempt still has authority: `ReleaseLease` ends a lease restored too late.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::memory::leases::LeaseRow;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::{Lease, RestoreLease};

#[doc(alias = "RestoreLease")]
pub(in crate::memory) fn restore_lease(turn: &mut Turn<'_>, request: &RestoreLease) -> Stamped<Lease> {
    let note = Note {
        attempt: Some(request.attempt),
        token: Some(request.token),
        worker: Some(request.worker),
        judged: &request.judged,
        ..Note::of(Action::RestoreLease, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &RestoreLease) -> Decision<Lease> {
    turn.current()?;
    let lease_ms = turn.pool.config.lease_ms;
    if turn.pool.leases.get(request.attempt).is_some() {
        let own = turn.pool.leases.held_by(request.attempt, request.job, request.worker);
        need(own, Guard::LeaseLive)?;
        let length = turn.pool.lease();
        turn.pool.leases.renew(request.attempt, turn.now, length);
        return Ok(Done::Before(Lease { lease_ms }));
    }
    turn.pool.epoch.may_restore(request.attempt)?;
    need(turn.pool.epoch.holds(request.attempt) || turn.pool.has_place(), Guard::GlobalLimit)?;
    let lease = LeaseRow::new(request.job, request.token, request.worker);
    turn.pool.add_lease(request.attempt, lease, turn.now);
    Ok(Done::Now(Lease { lease_ms }))
}
