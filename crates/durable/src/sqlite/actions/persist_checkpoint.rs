//! `PersistCheckpoint`: progress, state and the output so far become what the next attempt starts from.

use protocol::{Action, Detail, Guard, Incarnation, Mark, Origin, Stamped};
use rusqlite::{Row, named_params};

use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Entry, Seen, Transaction, first_false, mark};
use crate::sqlite::trouble::Trouble;
use crate::{PersistCheckpoint, Persisted, form};

const GUARDS: &[Guard] =
    &[Guard::Authority, Guard::PhaseRunning, Guard::ProgressPositive, Guard::CheckpointAdvances];

struct Found {
    refused: Option<Guard>,
    persisted: Option<u64>,
    seen: Seen,
    worker: Option<Incarnation>,
}

/// Decides one checkpoint.
#[doc(alias = "PersistCheckpoint")]
pub(in crate::sqlite) fn persist_checkpoint(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &PersistCheckpoint,
) -> Decision<Persisted> {
    if let Some(reason) = form::refuse_checkpoint(request) {
        return Decided::silent(Stamped::set_aside(Mark::default(), reason));
    }
    let params = named_params! {
        ":job": request.job.to_bytes(),
        ":attempt": request.attempt.to_bytes(),
        ":token": request.token.0,
        ":progress": column::integer("progress", request.progress)?,
    };
    let Some(found) = transaction.row(sql!("persist_checkpoint", "guards"), params, read)? else {
        return entry(origin, request, None).refused(transaction, None, Guard::Authority);
    };
    if let Some(checkpoint_revision) = found.persisted {
        return Decided::silent(Stamped::taken(mark(checkpoint_revision), Persisted { checkpoint_revision }));
    }
    let mut entry = entry(origin, request, Some(&found));
    if let Some(guard) = found.refused {
        return entry.refused(transaction, Some(found.seen), guard);
    }
    let checkpoint_revision = found.seen.revision + 1;
    take(transaction, request, checkpoint_revision)?;
    entry.detail.checkpoint_revision = Some(checkpoint_revision);
    entry.taken(transaction, checkpoint_revision, Persisted { checkpoint_revision })
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    Ok(Found {
        refused: first_false(row, GUARDS)?,
        persisted: match row.get::<_, Option<i64>>("persisted_revision")? {
            Some(_) => Some(column::count(row, "persisted_revision")?),
            None => None,
        },
        seen: column::seen(row)?,
        worker: column::maybe_id(row, "worker")?.map(Incarnation::from_bytes),
    })
}

fn entry<'a>(origin: &'a Origin, request: &'a PersistCheckpoint, found: Option<&Found>) -> Entry<'a> {
    Entry {
        origin,
        action: Action::PersistCheckpoint,
        job: request.job,
        attempt: Some(request.attempt),
        token: Some(request.token),
        judged: &[],
        detail: Detail {
            worker: found.and_then(|found| found.worker),
            progress: Some(request.progress),
            phase_after: found.map(|found| found.seen.phase),
            max_attempts: found.map(|found| found.seen.max_attempts),
            ..Detail::default()
        },
    }
}

fn take(transaction: &Transaction<'_>, request: &PersistCheckpoint, revision: u64) -> Result<(), Trouble> {
    let job = request.job.to_bytes();
    let attempt = request.attempt.to_bytes();
    let progress = column::integer("progress", request.progress)?;
    let revision = column::integer("revision", revision)?;
    let user = form::user_text(&request.user).map_err(Trouble::BadRow)?;
    transaction.write_one(
        sql!("persist_checkpoint", "take"),
        named_params! {":job": job, ":progress": progress, ":user": user},
    )?;
    transaction.write_one(
        sql!("persist_checkpoint", "store"),
        named_params! {
            ":job": job,
            ":revision": revision,
            ":attempt": attempt,
            ":token": request.token.0,
            ":progress": progress,
            ":user": user,
            ":now": transaction.now.0,
            ":state": column::document_bytes(&request.state),
            ":manifest": column::document_bytes(&request.manifest),
        },
    )?;
    transaction.write_one(
        sql!("persist_checkpoint", "advance"),
        named_params! {":attempt": attempt, ":progress": progress},
    )?;
    transaction.write(
        sql!("persist_checkpoint", "forget"),
        named_params! {":job": job, ":attempt": attempt, ":revision": revision},
    )?;
    Ok(())
}
