//! `RenewLease`: the lease is young again, and the worker learns of a cancel.
//!
//! Promises: only the incarnation that holds the lease renews it, also past its length as long as
//! `ExpireLease` has not come. The first renewal of a lease is recorded, later ones are merged into it.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::{RenewLease, Renewed};

#[doc(alias = "RenewLease")]
pub(in crate::memory) fn renew_lease(turn: &mut Turn<'_>, request: &RenewLease) -> Stamped<Renewed> {
    let note = Note {
        attempt: Some(request.attempt),
        token: turn.pool.leases.get(request.attempt).map(|lease| lease.token),
        worker: Some(request.worker),
        ..Note::of(Action::RenewLease, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &RenewLease) -> Decision<Renewed> {
    turn.current()?;
    need(turn.pool.leases.held_by(request.attempt, request.job, request.worker), Guard::LeaseLive)?;
    let length = turn.pool.lease();
    turn.pool.leases.renew(request.attempt, turn.now, length);
    let renewed =
        Renewed { lease_ms: turn.pool.config.lease_ms, cancel_notice: turn.pool.jobs.noticed(request.job) };
    let first = turn.pool.leases.first_renewal(request.attempt);
    Ok(if first { Done::Now(renewed) } else { Done::Before(renewed) })
}
