//! The verb `retry`. Not an action of the spec by itself: on `retry_wait` it is `ScheduleRetry`, elsewhere a new
//! submission or the same row offered again.

use protocol::{Guard, JobSpec, Mark, Origin, Stamped, Timestamp, Token};
use rusqlite::{Row, named_params};

use super::{outbox, schedule_retry, submit};
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Seen, Transaction, mark};
use crate::sqlite::trouble::Trouble;
use crate::{Retried, Retry, Submit};

struct Found {
    cancellable: bool,
    terminal: bool,
    waits: bool,
    aside: bool,
    again: Option<Retried>,
    seen: Seen,
    token: Token,
    due: Timestamp,
    spec: Result<JobSpec, String>,
}

/// Decides one retry.
pub(in crate::sqlite) fn retry(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &Retry,
) -> Decision<Retried> {
    let params = named_params! {":job": request.job.to_bytes(), ":new_job": request.new_job.to_bytes()};
    let found = transaction.row(sql!("retry", "guards"), params, |row| read(row, request))?;
    let Some(found) = found else {
        return Decided::silent(Stamped::refused(Mark::default(), Guard::JobExists));
    };
    let seen = mark(found.seen.revision);
    if let Some(again) = found.again {
        return Decided::silent(Stamped::taken(seen, again));
    }
    if !found.cancellable {
        return Decided::silent(Stamped::refused(seen, Guard::Cancellable));
    }
    if found.waits {
        return due_now(transaction, origin, request, &found);
    }
    if found.aside {
        return offer(transaction, request, &found);
    }
    if !found.terminal {
        return Decided::silent(Stamped::refused(seen, Guard::Terminal));
    }
    new_job(transaction, request, found)
}

fn read(row: &Row<'_>, request: &Retry) -> Result<Found, Trouble> {
    let text: Option<String> = row.get("spec")?;
    let moved: Option<String> = row.get("again")?;
    let again = match moved.as_deref() {
        Some("due_now") => Some(Retried::DueNow),
        Some(_) => Some(Retried::Offered),
        None => row.get::<_, bool>("made")?.then_some(Retried::NewJob(request.new_job)),
    };
    Ok(Found {
        cancellable: row.get("cancellable")?,
        terminal: row.get("terminal")?,
        waits: row.get("waits")?,
        aside: row.get("aside")?,
        again,
        seen: column::seen(row)?,
        token: Token(row.get("token")?),
        due: column::time(row, "due_at")?,
        spec: column::spec(text.as_deref()),
    })
}

fn due_now(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &Retry,
    found: &Found,
) -> Decision<Retried> {
    schedule_retry::take(transaction, request.job, found.due, transaction.now)?;
    remember(transaction, request, "due_now")?;
    let mut entry = schedule_retry::entry(origin, request.job, Some(found.token));
    entry.detail.max_attempts = Some(found.seen.max_attempts);
    entry.taken(transaction, found.seen.revision + 1, Retried::DueNow)
}

/// The row comes in anew, so that a dispatcher that only looks at what is new sees it.
fn offer(transaction: &Transaction<'_>, request: &Retry, found: &Found) -> Decision<Retried> {
    transaction.write_one(
        sql!("retry", "offer"),
        named_params! {":job": request.job.to_bytes(), ":now": transaction.now.0},
    )?;
    remember(transaction, request, "offered")?;
    outbox::remove(transaction, request.job)?;
    outbox::put(transaction, request.job, transaction.now)?;
    Decided::silent(Stamped::taken(mark(found.seen.revision + 1), Retried::Offered))
}

fn remember(transaction: &Transaction<'_>, request: &Retry, retried: &str) -> Result<(), Trouble> {
    transaction.write_one(
        sql!("retry", "remember"),
        named_params! {
            ":job": request.job.to_bytes(),
            ":new_job": request.new_job.to_bytes(),
            ":retried": retried,
        },
    )
}

/// A terminal row never changes: the work goes on under a new id, with the budget it was submitted with.
fn new_job(transaction: &Transaction<'_>, request: &Retry, found: Found) -> Decision<Retried> {
    let seen = mark(found.seen.revision);
    let spec = match found.spec {
        Ok(spec) => JobSpec { scheduled_at: None, idempotency_key: None, ..spec },
        Err(reason) => {
            return Decided::silent(Stamped::set_aside(seen, reason));
        }
    };
    let new = Submit { job: request.new_job, spec, retry_of: Some(request.job) };
    Decided::silent(if submit::insert(transaction, &new)? {
        Stamped::taken(mark(1), Retried::NewJob(request.new_job))
    } else {
        Stamped::refused(seen, Guard::SameRequest)
    })
}
