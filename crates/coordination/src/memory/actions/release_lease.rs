//! `ReleaseLease`: the lease of an attempt without authority is given back.
//!
//! Promises: names the attempt, so another attempt's lease is never touched; a second release does nothing.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::memory::epoch::Ended;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::{ReleaseLease, Wake};

#[doc(alias = "ReleaseLease")]
pub(in crate::memory) fn release_lease(turn: &mut Turn<'_>, request: &ReleaseLease) -> Stamped<()> {
    let lease = turn.pool.leases.get(request.attempt).copied();
    let note = Note {
        attempt: Some(request.attempt),
        token: lease.map(|lease| lease.token),
        worker: lease.map(|lease| lease.worker),
        judged: &request.judged,
        ..Note::of(Action::ReleaseLease, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &ReleaseLease) -> Decision<()> {
    turn.current()?;
    let live = turn.pool.leases.get(request.attempt).is_some_and(|lease| lease.job == request.job);
    need(live, Guard::LeaseLive)?;
    turn.pool.end_lease(request.attempt, Ended::Seen);
    turn.wake(Wake::Freed);
    Ok(Done::Now(()))
}
