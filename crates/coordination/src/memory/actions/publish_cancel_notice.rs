//! `PublishCancelNotice`: the worker is told of a cancel, at its next renewal at the latest.

use protocol::{Action, Guard, Stamped};

use super::need;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::{PublishCancelNotice, Wake};

#[doc(alias = "PublishCancelNotice")]
pub(in crate::memory) fn publish_cancel_notice(
    turn: &mut Turn<'_>,
    request: &PublishCancelNotice,
) -> Stamped<()> {
    let note = Note {
        attempt: Some(request.attempt),
        judged: &request.judged,
        ..Note::of(Action::PublishCancelNotice, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &PublishCancelNotice) -> Decision<()> {
    turn.current()?;
    need(!turn.pool.jobs.noticed(request.job), Guard::NotNoticed)?;
    turn.pool.jobs.change(request.job, |row| row.notice = true);
    turn.wake(Wake::CancelNotice(request.job));
    Ok(Done::Now(()))
}
