//! `ScheduleRetry`: a job whose retry is due is queued again, by its due time.

use protocol::{Action, Detail, Guard, JobId, Origin, Phase, Stamped, Timestamp, Token};
use rusqlite::{Row, named_params};

use super::outbox;
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Entry, Seen, Transaction, first_false, mark};
use crate::sqlite::trouble::Trouble;
use crate::{ScheduleRetry, Scheduled};

const GUARDS: &[Guard] = &[Guard::PhaseRetryWait, Guard::Due];

struct Found {
    already: bool,
    refused: Option<Guard>,
    seen: Seen,
    token: Token,
    due: Timestamp,
}

/// Decides one retry.
#[doc(alias = "ScheduleRetry")]
pub(in crate::sqlite) fn schedule_retry(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &ScheduleRetry,
) -> Decision<Scheduled> {
    let job = request.job;
    let params = named_params! {":job": job.to_bytes(), ":now": transaction.now.0};
    let Some(found) = transaction.row(sql!("schedule_retry", "guards"), params, read)? else {
        return entry(origin, job, None).refused(transaction, None, Guard::PhaseRetryWait);
    };
    if found.already {
        return Decided::silent(Stamped::taken(mark(found.seen.revision), Scheduled { job }));
    }
    let mut entry = entry(origin, job, Some(found.token));
    if let Some(guard) = found.refused {
        return entry.refused(transaction, Some(found.seen), guard);
    }
    take(transaction, job, found.due, found.due)?;
    entry.detail.max_attempts = Some(found.seen.max_attempts);
    entry.taken(transaction, found.seen.revision + 1, Scheduled { job })
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    Ok(Found {
        already: row.get("already")?,
        refused: first_false(row, GUARDS)?,
        seen: column::seen(row)?,
        token: Token(row.get("token")?),
        due: column::time(row, "due_at")?,
    })
}

/// The action's line in the trace; `retry` writes it, too.
pub(super) fn entry(origin: &Origin, job: JobId, token: Option<Token>) -> Entry<'_> {
    Entry {
        origin,
        action: Action::ScheduleRetry,
        job,
        attempt: None,
        token,
        judged: &[],
        detail: Detail { phase_after: Some(Phase::Queued), ..Detail::default() },
    }
}

/// Queues the job that waited until `waited` by the time `due`.
pub(super) fn take(
    transaction: &Transaction<'_>,
    job: JobId,
    waited: Timestamp,
    due: Timestamp,
) -> Result<(), Trouble> {
    transaction
        .write_one(sql!("schedule_retry", "take"), named_params! {":job": job.to_bytes(), ":due": due.0})?;
    forget_wait(transaction, job, waited)?;
    outbox::put(transaction, job, due)
}

/// The row in `retry_wait` goes.
pub(super) fn forget_wait(
    transaction: &Transaction<'_>,
    job: JobId,
    waited: Timestamp,
) -> Result<(), Trouble> {
    transaction
        .write_one(sql!("retry_wait", "remove"), named_params! {":due": waited.0, ":job": job.to_bytes()})
}
