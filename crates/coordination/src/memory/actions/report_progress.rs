//! `ReportProgress`: what the job says of itself is shown. Display only.
//!
//! Promises: only under a live lease of the incarnation that asks; the same again changes nothing.

use protocol::{Action, Guard, Stamped, job::check_size, limit};

use super::need;
use crate::memory::jobs::Shown;
use crate::memory::turn::{Decision, Done, Note, Turn};
use crate::{ReportProgress, Wake};

#[doc(alias = "ReportProgress")]
pub(in crate::memory) fn report_progress(turn: &mut Turn<'_>, request: &ReportProgress) -> Stamped<()> {
    let message = request.progress.message.as_ref().map_or(0, String::len);
    if let Err(violation) = check_size("message", message, limit::PROGRESS_MESSAGE_BYTES) {
        return Stamped::set_aside(turn.pool.mark(), violation.to_string());
    }
    let note = Note {
        attempt: Some(request.attempt),
        token: turn.pool.leases.get(request.attempt).map(|lease| lease.token),
        worker: Some(request.worker),
        judged: &request.judged,
        ..Note::of(Action::ReportProgress, request.job)
    };
    let decision = decide(turn, request);
    turn.answer(&note, decision)
}

fn decide(turn: &mut Turn<'_>, request: &ReportProgress) -> Decision<()> {
    turn.current()?;
    let live = turn.pool.leases.held_by(request.attempt, request.job, request.worker);
    need(live, Guard::LeaseLive)?;
    let shown = Some(Shown { attempt: request.attempt, progress: Some(request.progress.clone()) });
    let changed = turn.pool.jobs.change(request.job, |row| {
        let changed = row.shown != shown;
        row.shown = shown;
        changed
    });
    need(changed, Guard::ProgressChanged)?;
    turn.wake(Wake::Progress(request.job));
    Ok(Done::Now(()))
}
