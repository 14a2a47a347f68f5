//! `FinalizeCancel`: the attempt of a cancelling job loses its authority; the job is cancelled.

use protocol::{Action, Detail, Guard, Origin, Phase, Token, Verdict};
use rusqlite::{Row, named_params};

use super::end::{End, Ledger, end_attempt, ledger};
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decision, Entry, Seen, Transaction, first_false};
use crate::sqlite::trouble::Trouble;
use crate::{Ended, FinalizeCancel};

const GUARDS: &[Guard] = &[Guard::PhaseCancelling, Guard::Authority];

struct Found {
    refused: Option<Guard>,
    seen: Seen,
    token: Token,
    ledger: Option<Ledger>,
}

/// Decides one end of a cancel.
#[doc(alias = "FinalizeCancel")]
pub(in crate::sqlite) fn finalize_cancel(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &FinalizeCancel,
) -> Decision<Ended> {
    let params = named_params! {":job": request.job.to_bytes(), ":attempt": request.attempt.to_bytes()};
    let found = transaction.row(sql!("finalize_cancel", "guards"), params, read)?;
    let entry = Entry {
        origin,
        action: Action::FinalizeCancel,
        job: request.job,
        attempt: Some(request.attempt),
        token: found.as_ref().map(|found| found.token),
        judged: &request.judged,
        detail: Detail {
            phase_after: Some(Phase::Cancelled),
            max_attempts: found.as_ref().map(|found| found.seen.max_attempts),
            ..Detail::default()
        },
    };
    let Some(found) = found else { return entry.refused(transaction, None, Guard::PhaseCancelling) };
    if let Some(ledger) = found.ledger
        && ledger.verdict == Verdict::Cancelled
    {
        return ledger.again();
    }
    if let Some(guard) = found.refused {
        return entry.refused(transaction, Some(found.seen), guard);
    }
    let revision = found.seen.revision + 1;
    let ended = Ended { phase: Phase::Cancelled, due: None };
    transaction.write_one(
        sql!("finalize_cancel", "take"),
        named_params! {":job": request.job.to_bytes(), ":now": transaction.now.0},
    )?;
    end_attempt(transaction, &end(request, found.token, revision, ended))?;
    entry.taken(transaction, revision, ended)
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    Ok(Found {
        refused: first_false(row, GUARDS)?,
        seen: column::seen(row)?,
        token: Token(row.get("token")?),
        ledger: ledger(row)?,
    })
}

fn end(request: &FinalizeCancel, token: Token, revision: u64, ended: Ended) -> End<'_> {
    End {
        job: request.job,
        attempt: request.attempt,
        token,
        verdict: Verdict::Cancelled,
        error: None,
        exit: None,
        // A worker knows that its process tree is gone; a canceller has only judged.
        stopped: request.judged.is_empty(),
        revision,
        ended,
    }
}
