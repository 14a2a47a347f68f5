//! `Enqueue`: a row of the outbox, read a moment ago, becomes a queue entry.
//!
//! Promises: a job has one entry at most and none beside its reservation. Does not know the job's phase: an
//! entry that is stale costs one refused claim.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::{Enqueue, Enqueued, Wake};

#[doc(alias = "Enqueue")]
pub(in crate::memory) fn enqueue(turn: &mut Turn<'_>, request: &Enqueue) -> Stamped<Enqueued> {
    let note = Note {
        checkpoint_revision: Some(request.checkpoint_revision),
        judged: &request.judged,
        ..Note::of(Action::Enqueue, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &Enqueue) -> Decision<Enqueued> {
    turn.current()?;
    let pool = &mut *turn.pool;
    need(!pool.windows.holds(request.job), Guard::NotQueued)?;
    need(pool.jobs.reservation(request.job).is_none(), Guard::NotReserved)?;
    need(!pool.jobs.has_lease(request.job), Guard::LeaseNotLive)?;
    need(pool.workers.serve(&request.window), Guard::WindowRegistered)?;
    need(pool.windows.has_room(&request.window), Guard::WindowFull)?;
    pool.windows.put(request);
    let entries = pool.windows.entries(&request.window);
    turn.wake(Wake::Queued(request.window.clone()));
    Ok(Done::Now(Enqueued { entries }))
}
