//! `RequestCancel`: from here on nothing of the job will be published.

use protocol::{Action, AttemptId, Detail, Guard, Origin, Phase, Stamped, Timestamp, Token};
use rusqlite::{Row, named_params};

use super::end::end_job;
use super::outbox;
use super::schedule_retry::forget_wait;
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Entry, Seen, Transaction, first_false, mark};
use crate::sqlite::trouble::Trouble;
use crate::{CancelRequested, RequestCancel};

const GUARDS: &[Guard] = &[Guard::Cancellable];

struct Found {
    already: bool,
    refused: Option<Guard>,
    seen: Seen,
    token: Token,
    attempt: Option<AttemptId>,
    due: Timestamp,
}

/// Decides one cancel.
#[doc(alias = "RequestCancel")]
pub(in crate::sqlite) fn request_cancel(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &RequestCancel,
) -> Decision<CancelRequested> {
    let params = named_params! {":job": request.job.to_bytes()};
    let found = transaction.row(sql!("request_cancel", "guards"), params, read)?;
    let mut entry = Entry {
        origin,
        action: Action::RequestCancel,
        job: request.job,
        attempt: found.as_ref().and_then(|found| found.attempt),
        token: found.as_ref().map(|found| found.token),
        judged: &[],
        detail: Detail::default(),
    };
    let Some(found) = found else { return entry.refused(transaction, None, Guard::JobExists) };
    if found.already {
        let effect = CancelRequested { phase: found.seen.phase, attempt: found.attempt };
        return Decided::silent(Stamped::taken(mark(found.seen.revision), effect));
    }
    if let Some(guard) = found.refused {
        return entry.refused(transaction, Some(found.seen), guard);
    }
    let phase = take(transaction, request, &found)?;
    entry.detail.phase_after = Some(phase);
    entry.detail.max_attempts = Some(found.seen.max_attempts);
    entry.taken(transaction, found.seen.revision + 1, CancelRequested { phase, attempt: found.attempt })
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    Ok(Found {
        already: row.get("already")?,
        refused: first_false(row, GUARDS)?,
        seen: column::seen(row)?,
        token: Token(row.get("token")?),
        attempt: column::maybe_id(row, "attempt")?.map(AttemptId::from_bytes),
        due: column::time(row, "due_at")?,
    })
}

fn take(transaction: &Transaction<'_>, request: &RequestCancel, found: &Found) -> Result<Phase, Trouble> {
    let phase = if found.seen.phase == Phase::Running { Phase::Cancelling } else { Phase::Cancelled };
    transaction.write_one(
        sql!("request_cancel", "take"),
        named_params! {
            ":job": request.job.to_bytes(),
            ":phase": phase.name(),
            ":finished_at": phase.is_terminal().then_some(transaction.now.0),
        },
    )?;
    match found.attempt {
        Some(attempt) => transaction.write_one(
            sql!("request_cancel", "tell"),
            named_params! {":attempt": attempt.to_bytes(), ":now": transaction.now.0},
        )?,
        None if found.seen.phase == Phase::Queued => outbox::remove(transaction, request.job)?,
        None => forget_wait(transaction, request.job, found.due)?,
    }
    if phase.is_terminal() {
        end_job(transaction, request.job)?;
    }
    Ok(phase)
}
