//! `CleanTerminalCoordination`: entry, reservation, notice and progress of a terminal job go away.
//!
//! Promises: a lease is left alone; `ReleaseLease` and `ExpireLease` end it.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::memory::reservations::Ending;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::{CleanTerminal, Wake};

#[doc(alias = "CleanTerminalCoordination")]
pub(in crate::memory) fn clean_terminal_coordination(
    turn: &mut Turn<'_>,
    request: &CleanTerminal,
) -> Stamped<()> {
    let note = Note {
        reservation: turn.pool.jobs.reservation(request.job),
        judged: &request.judged,
        ..Note::of(Action::CleanTerminalCoordination, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &CleanTerminal) -> Decision<()> {
    turn.current()?;
    let pool = &mut *turn.pool;
    let entry = pool.windows.take(request.job).is_some();
    let reservation = pool.jobs.reservation(request.job);
    let rest = pool.jobs.change(request.job, |row| {
        std::mem::take(&mut row.notice) | row.shown.take().is_some() | reservation.is_some()
    });
    need(entry || rest, Guard::SomethingToClean)?;
    if let Some(id) = reservation {
        pool.end_reservation(id, Ending::Other);
        turn.wake(Wake::Freed);
    }
    Ok(Done::Now(()))
}
