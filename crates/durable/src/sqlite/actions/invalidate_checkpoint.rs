//! `InvalidateCheckpoint`: a checkpoint that failed verification is never used again.

use protocol::{Action, Detail, Guard, Origin, Stamped, Token, limit};
use rusqlite::{Row, named_params};

use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Entry, Seen, Transaction, first_false, mark};
use crate::sqlite::trouble::Trouble;
use crate::{InvalidateCheckpoint, Invalidated};

const GUARDS: &[Guard] = &[Guard::NotTerminal, Guard::CheckpointValid, Guard::CheckpointChanged];

struct Found {
    refused: Option<Guard>,
    invalidated: Option<u64>,
    seen: Seen,
    token: Token,
    progress: u64,
}

/// Decides one invalidation. It names the revision that was judged, so a newer checkpoint is never thrown away.
#[doc(alias = "InvalidateCheckpoint")]
pub(in crate::sqlite) fn invalidate_checkpoint(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &InvalidateCheckpoint,
) -> Decision<Invalidated> {
    let checkpoint_revision = request.checkpoint_revision;
    let params = named_params! {
        ":job": request.job.to_bytes(),
        ":checkpoint_revision": column::at_most(checkpoint_revision),
    };
    let found = transaction.row(sql!("invalidate_checkpoint", "guards"), params, read)?;
    let entry = Entry {
        origin,
        action: Action::InvalidateCheckpoint,
        job: request.job,
        attempt: None,
        token: found.as_ref().map(|found| found.token),
        judged: &[],
        detail: Detail {
            progress: found.as_ref().map(|found| found.progress),
            checkpoint_revision: Some(checkpoint_revision),
            phase_after: found.as_ref().map(|found| found.seen.phase),
            max_attempts: found.as_ref().map(|found| found.seen.max_attempts),
            ..Detail::default()
        },
    };
    let Some(found) = found else { return entry.refused(transaction, None, Guard::CheckpointValid) };
    if let Some(revision) = found.invalidated {
        return Decided::silent(Stamped::taken(mark(revision), Invalidated { checkpoint_revision }));
    }
    if let Some(guard) = found.refused {
        return entry.refused(transaction, Some(found.seen), guard);
    }
    let revision = found.seen.revision + 1;
    take(transaction, request, revision)?;
    entry.taken(transaction, revision, Invalidated { checkpoint_revision })
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    Ok(Found {
        refused: first_false(row, GUARDS)?,
        invalidated: match row.get::<_, Option<i64>>("invalidated_revision")? {
            Some(_) => Some(column::count(row, "invalidated_revision")?),
            None => None,
        },
        seen: column::seen(row)?,
        token: Token(row.get("token")?),
        progress: column::count(row, "progress")?,
    })
}

fn take(transaction: &Transaction<'_>, request: &InvalidateCheckpoint, revision: u64) -> Result<(), Trouble> {
    let job = request.job.to_bytes();
    transaction.write_one(sql!("invalidate_checkpoint", "take"), named_params! {":job": job})?;
    transaction.write_one(
        sql!("invalidate_checkpoint", "record"),
        named_params! {
            ":job": job,
            ":checkpoint_revision": column::integer("checkpoint_revision", request.checkpoint_revision)?,
            ":revision": column::integer("revision", revision)?,
            ":reason": column::storable(&request.reason, limit::ERROR_BYTES),
        },
    )
}
