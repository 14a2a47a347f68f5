//! `ReapLostAttempt`: the authority of an attempt that was judged lost is revoked.

use protocol::{Action, Detail, FailureCause, Guard, Origin, RetryPolicy, Verdict};
use rusqlite::{Row, named_params};

use super::end::{End, Ledger, after_failure, end_attempt, ledger, wait};
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decision, Entry, Seen, Transaction, first_false};
use crate::sqlite::trouble::Trouble;
use crate::{Ended, ReapLostAttempt};

const GUARDS: &[Guard] = &[Guard::Authority, Guard::PhaseRunning];

struct Found {
    refused: Option<Guard>,
    seen: Seen,
    losses: u32,
    policy: RetryPolicy,
    ledger: Option<Ledger>,
}

/// Decides one reaping. It names the attempt that was judged, so a newer one is never revoked by an old judgement.
#[doc(alias = "ReapLostAttempt")]
pub(in crate::sqlite) fn reap_lost_attempt(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &ReapLostAttempt,
) -> Decision<Ended> {
    let params = named_params! {
        ":job": request.job.to_bytes(),
        ":attempt": request.attempt.to_bytes(),
        ":token": request.token.0,
    };
    let mut entry = entry(origin, request);
    let Some(found) = transaction.row(sql!("reap_lost_attempt", "guards"), params, read)? else {
        return entry.refused(transaction, None, Guard::Authority);
    };
    if let Some(ledger) = found.ledger
        && ledger.verdict == Verdict::Failed(FailureCause::Lost)
    {
        return ledger.again();
    }
    if let Some(guard) = found.refused {
        return entry.refused(transaction, Some(found.seen), guard);
    }
    let losses = found.losses.saturating_add(1);
    let delay_ms = found.policy.after(FailureCause::Lost, request.token.0, losses, request.chance);
    let due = transaction.now.plus_ms(delay_ms);
    let ended = after_failure(request.token.0 < found.seen.max_attempts, due);
    let revision = found.seen.revision + 1;
    take(transaction, request, ended)?;
    end_attempt(transaction, &end(request, revision, ended))?;
    entry.detail.phase_after = Some(ended.phase);
    entry.detail.max_attempts = Some(found.seen.max_attempts);
    entry.taken(transaction, revision, ended)
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    Ok(Found {
        refused: first_false(row, GUARDS)?,
        seen: column::seen(row)?,
        losses: row.get("losses")?,
        policy: column::retry_policy(row)?,
        ledger: ledger(row)?,
    })
}

fn entry<'a>(origin: &'a Origin, request: &'a ReapLostAttempt) -> Entry<'a> {
    Entry {
        origin,
        action: Action::ReapLostAttempt,
        job: request.job,
        attempt: Some(request.attempt),
        token: Some(request.token),
        judged: &request.judged,
        detail: Detail { cause: Some(FailureCause::Lost), ..Detail::default() },
    }
}

fn take(transaction: &Transaction<'_>, request: &ReapLostAttempt, ended: Ended) -> Result<(), Trouble> {
    transaction.write_one(
        sql!("reap_lost_attempt", "take"),
        named_params! {
            ":job": request.job.to_bytes(),
            ":phase": ended.phase.name(),
            ":due": ended.due.map(|due| due.0),
            ":finished_at": ended.phase.is_terminal().then_some(transaction.now.0),
        },
    )?;
    ended.due.map_or(Ok(()), |due| wait(transaction, request.job, due))
}

fn end(request: &ReapLostAttempt, revision: u64, ended: Ended) -> End<'_> {
    End {
        job: request.job,
        attempt: request.attempt,
        token: request.token,
        verdict: Verdict::Failed(FailureCause::Lost),
        error: Some(&request.error),
        exit: None,
        stopped: false,
        revision,
        ended,
    }
}
