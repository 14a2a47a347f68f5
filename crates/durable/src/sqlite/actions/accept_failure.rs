//! `AcceptFailure`: the attempt failed; the job waits for a retry, or has failed.

use protocol::{Action, Detail, FailureCause, Guard, Mark, Origin, RetryPolicy, Stamped, Verdict};
use rusqlite::{Row, named_params};

use super::end::{End, Ledger, after_failure, end_attempt, ledger, wait};
use super::reject_outcome::reject_outcome;
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Entry, Seen, Transaction, first_false};
use crate::sqlite::trouble::Trouble;
use crate::{AcceptFailure, Ended};

const GUARDS: &[Guard] = &[Guard::Authority, Guard::PhaseRunning, Guard::NotCancelRequested];

struct Found {
    refused: Option<Guard>,
    seen: Seen,
    policy: RetryPolicy,
    ledger: Option<Ledger>,
}

/// Decides one failure.
#[doc(alias = "AcceptFailure")]
pub(in crate::sqlite) fn accept_failure(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &AcceptFailure,
) -> Decision<Ended> {
    if request.cause == FailureCause::Lost {
        let reason = "cause is lost; allowed is any other: only the reaper judges that";
        return Decided::silent(Stamped::set_aside(Mark::default(), reason));
    }
    let params = named_params! {
        ":job": request.job.to_bytes(),
        ":attempt": request.attempt.to_bytes(),
        ":token": request.token.0,
    };
    let Some(found) = transaction.row(sql!("accept_failure", "guards"), params, read)? else {
        return reject_outcome(transaction, entry(origin, request), None, Guard::Authority);
    };
    if let Some(ledger) = found.ledger
        && matches!(ledger.verdict, Verdict::Failed(cause) if cause != FailureCause::Lost)
    {
        return ledger.again();
    }
    let mut entry = entry(origin, request);
    if let Some(guard) = found.refused {
        return reject_outcome(transaction, entry, Some(found.seen), guard);
    }
    let permanent = request.cause == FailureCause::Permanent;
    let max_attempts = if permanent { request.token.0 } else { found.seen.max_attempts };
    let delay_ms = found.policy.after(request.cause, request.token.0, 0, request.chance);
    let ended = after_failure(request.token.0 < max_attempts, transaction.now.plus_ms(delay_ms));
    let revision = found.seen.revision + 1;
    take(transaction, request, max_attempts, ended)?;
    end_attempt(transaction, &end(request, revision, ended))?;
    entry.detail.phase_after = Some(ended.phase);
    entry.detail.max_attempts = Some(max_attempts);
    entry.taken(transaction, revision, ended)
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    Ok(Found {
        refused: first_false(row, GUARDS)?,
        seen: column::seen(row)?,
        policy: column::retry_policy(row)?,
        ledger: ledger(row)?,
    })
}

fn entry<'a>(origin: &'a Origin, request: &'a AcceptFailure) -> Entry<'a> {
    Entry {
        origin,
        action: Action::AcceptFailure,
        job: request.job,
        attempt: Some(request.attempt),
        token: Some(request.token),
        judged: &[],
        detail: Detail { cause: Some(request.cause), ..Detail::default() },
    }
}

fn take(
    transaction: &Transaction<'_>,
    request: &AcceptFailure,
    max_attempts: u32,
    ended: Ended,
) -> Result<(), Trouble> {
    transaction.write_one(
        sql!("accept_failure", "take"),
        named_params! {
            ":job": request.job.to_bytes(),
            ":phase": ended.phase.name(),
            ":max_attempts": max_attempts,
            ":due": ended.due.map(|due| due.0),
            ":finished_at": ended.phase.is_terminal().then_some(transaction.now.0),
        },
    )?;
    ended.due.map_or(Ok(()), |due| wait(transaction, request.job, due))
}

fn end(request: &AcceptFailure, revision: u64, ended: Ended) -> End<'_> {
    End {
        job: request.job,
        attempt: request.attempt,
        token: request.token,
        verdict: Verdict::Failed(request.cause),
        error: Some(&request.error),
        exit: request.exit,
        stopped: true,
        revision,
        ended,
    }
}
