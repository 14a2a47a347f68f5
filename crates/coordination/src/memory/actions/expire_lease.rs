//! `ExpireLease`: leases past their length end.
//!
//! Promises: the oldest first, at most as many as asked for. Time is not proof of death: the attempt may
//! go on, without a place and, once reaped, without authority.

use protocol::{Action, AttemptId, Guard, Stamped};

use crate::memory::epoch::Ended;
use crate::memory::turn::{Done, Note, Turn};
use crate::{ExpiredLease, Wake};

#[doc(alias = "ExpireLease")]
pub(in crate::memory) fn expire_lease(turn: &mut Turn<'_>, limit: usize) -> Vec<Stamped<ExpiredLease>> {
    if let Err(guard) = turn.current() {
        return vec![turn.refuse_quietly(guard)];
    }
    let overdue = turn.pool.leases.overdue(turn.now, limit);
    overdue.into_iter().map(|attempt| expire(turn, attempt)).collect()
}

fn expire(turn: &mut Turn<'_>, attempt: AttemptId) -> Stamped<ExpiredLease> {
    let Some(lease) = turn.pool.end_lease(attempt, Ended::ByAge) else {
        return turn.refuse_quietly(Guard::LeaseLive);
    };
    turn.wake(Wake::Freed);
    let note = Note {
        attempt: Some(attempt),
        token: Some(lease.token),
        worker: Some(lease.worker),
        ..Note::of(Action::ExpireLease, lease.job)
    };
    turn.answer(&note, Ok(Done::Now(ExpiredLease { job: lease.job, attempt, worker: lease.worker })))
}
