//! `AcceptSuccess`: the one compare-and-swap that publishes.

use protocol::{Action, Detail, Guard, Mark, Origin, Phase, Stamped, Verdict};
use rusqlite::{Row, named_params};

use super::end::{End, Ledger, end_attempt, ledger};
use super::reject_outcome::reject_outcome;
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Entry, Seen, Transaction, first_false};
use crate::sqlite::trouble::Trouble;
use crate::{AcceptSuccess, Ended, form};

const GUARDS: &[Guard] = &[Guard::Authority, Guard::PhaseRunning, Guard::NotCancelRequested];

struct Found {
    refused: Option<Guard>,
    seen: Seen,
    ledger: Option<Ledger>,
}

/// Decides one success.
#[doc(alias = "AcceptSuccess")]
pub(in crate::sqlite) fn accept_success(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &AcceptSuccess,
) -> Decision<Ended> {
    if let Some(reason) = form::refuse_result(request) {
        return Decided::silent(Stamped::set_aside(Mark::default(), reason));
    }
    let params = named_params! {
        ":job": request.job.to_bytes(),
        ":attempt": request.attempt.to_bytes(),
        ":token": request.token.0,
    };
    let found = transaction.row(sql!("accept_success", "guards"), params, read)?;
    let entry = entry(origin, request, found.as_ref());
    let Some(found) = found else {
        return reject_outcome(transaction, entry, None, Guard::Authority);
    };
    if let Some(ledger) = found.ledger
        && ledger.verdict == Verdict::Succeeded
    {
        return ledger.again();
    }
    if let Some(guard) = found.refused {
        return reject_outcome(transaction, entry, Some(found.seen), guard);
    }
    let revision = found.seen.revision + 1;
    let ended = Ended { phase: Phase::Succeeded, due: None };
    take(transaction, request, revision, ended)?;
    entry.taken(transaction, revision, ended)
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    Ok(Found { refused: first_false(row, GUARDS)?, seen: column::seen(row)?, ledger: ledger(row)? })
}

fn entry<'a>(origin: &'a Origin, request: &'a AcceptSuccess, found: Option<&Found>) -> Entry<'a> {
    Entry {
        origin,
        action: Action::AcceptSuccess,
        job: request.job,
        attempt: Some(request.attempt),
        token: Some(request.token),
        judged: &[],
        detail: Detail {
            phase_after: Some(Phase::Succeeded),
            max_attempts: found.map(|found| found.seen.max_attempts),
            ..Detail::default()
        },
    }
}

fn take(
    transaction: &Transaction<'_>,
    request: &AcceptSuccess,
    revision: u64,
    ended: Ended,
) -> Result<(), Trouble> {
    let job = request.job.to_bytes();
    transaction
        .write_one(sql!("accept_success", "take"), named_params! {":job": job, ":now": transaction.now.0})?;
    transaction.write_one(
        sql!("accept_success", "publish"),
        named_params! {
            ":job": job,
            ":attempt": request.attempt.to_bytes(),
            ":token": request.token.0,
            ":now": transaction.now.0,
            ":files": column::integer("files", request.result.files)?,
            ":bytes": column::integer("bytes", request.result.bytes)?,
            ":digest": request.result.digest,
            ":manifest": column::document_bytes(&request.result.manifest),
        },
    )?;
    end_attempt(
        transaction,
        &End {
            job: request.job,
            attempt: request.attempt,
            token: request.token,
            verdict: Verdict::Succeeded,
            error: None,
            exit: None,
            stopped: true,
            revision,
            ended,
        },
    )
}
