//! A sweep has visited the stage of an ended attempt. The target does not record, so `CleanupStage` is recorded here,
//! where its cleaner reports.

use protocol::{Action, AttemptId, Detail, Event, Judged, Mark, Origin, Outcome, Room, Stamped, Token};
use rusqlite::named_params;

use crate::StageSwept;
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Transaction, mark};
use crate::sqlite::trouble::Trouble;

/// Records one visit.
#[doc(alias = "CleanupStage")]
pub(in crate::sqlite) fn stages_swept(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &StageSwept,
) -> Decision<()> {
    let params = named_params! {":job": request.job.to_bytes(), ":attempt": request.attempt.to_bytes()};
    let events = cleanup(transaction, origin, request)?.into_iter().collect();
    if request.kept {
        transaction.write(sql!("stages_swept", "kept"), params)?;
        transaction.write(sql!("stages_swept", "done"), params)?;
    } else {
        transaction.write(sql!("stages_swept", "nothing_left"), params)?;
    }
    Ok(Decided { answer: Stamped::taken(Mark::default(), ()), events })
}

/// What the trace says of it. A sweep of what is published takes away only what the result does not need: that is no
/// action of the spec.
fn cleanup(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &StageSwept,
) -> Result<Option<Event>, Trouble> {
    if !transaction.recording {
        return Ok(None);
    }
    let StageSwept { job, attempt, .. } = *request;
    let params = named_params! {":job": job.to_bytes(), ":attempt": AttemptId::to_bytes(attempt)};
    let about = transaction.row(sql!("stages_swept", "about"), params, |row| {
        Ok((Token(row.get("token")?), column::count(row, "revision")?))
    })?;
    Ok(about.map(|(token, revision)| Event {
        room: Room::Target,
        epoch: 0,
        order: origin.sequence,
        action: Action::CleanupStage,
        outcome: Outcome::Taken,
        job: Some(job),
        token: Some(token),
        attempt: Some(attempt),
        actor: origin.actor,
        sequence: origin.sequence,
        sent_after: origin.sent_after,
        answered_before: None,
        detail: Detail::default(),
        // Not the moment that the sweep was judged at, but a later one at which all that it rests on still holds.
        judged: vec![Judged::durable(mark(revision))],
    }))
}
