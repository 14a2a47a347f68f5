//! The pool's row: the epoch's compare-and-swap (protocol rule 9) and the configuration.

use protocol::{ActorId, Guard, InstallationId, Mark, Origin, Stamped, TargetId};
use rusqlite::named_params;

use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Transaction, mark};
use crate::sqlite::trouble::Trouble;
use crate::{Configure, PoolRow, RaiseEpoch};

/// The pool's row and what only this room needs of it.
struct Found {
    pool: PoolRow,
    raised_from: u64,
    raised_by: Option<ActorId>,
    mark: Mark,
}

fn find(transaction: &Transaction<'_>) -> Result<Found, Trouble> {
    let paused = transaction.rows(sql!("pool", "paused"), &[], |row| Ok(row.get("queue")?))?;
    let found = transaction.row(sql!("pool", "read"), &[], |row| {
        Ok(Found {
            pool: PoolRow {
                epoch: column::count(row, "epoch")?,
                open: row.get("open")?,
                lease_ms: column::count(row, "lease_ms")?,
                global_limit: row.get("global_limit")?,
                paused,
                config_revision: column::count(row, "config_revision")?,
                installation: InstallationId::from_bytes(column::id(row, "installation")?),
                target: column::maybe_id(row, "target")?.map(TargetId::from_bytes),
            },
            raised_from: column::count(row, "raised_from")?,
            raised_by: column::maybe_id(row, "raised_by")?.map(ActorId::from_bytes),
            mark: mark(column::count(row, "revision")?),
        })
    })?;
    found.ok_or_else(|| Trouble::BadRow("the pool has no row".to_owned()))
}

/// The pool's row.
pub(in crate::sqlite) fn read_pool(transaction: &Transaction<'_>) -> Result<PoolRow, Trouble> {
    find(transaction).map(|found| found.pool)
}

/// The row after a compare-and-swap that holds now, else the refusal.
fn answer(transaction: &Transaction<'_>, holds: impl FnOnce(&Found) -> bool) -> Decision<PoolRow> {
    let found = find(transaction)?;
    Decided::silent(if holds(&found) {
        Stamped::taken(found.mark, found.pool)
    } else {
        Stamped::refused(found.mark, Guard::EpochCurrent)
    })
}

/// Moves the epoch from one that is open to a higher one, `opening`. The same move by the same actor
/// again finds it done.
pub(in crate::sqlite) fn raise_epoch(
    transaction: &Transaction<'_>,
    origin: &Origin,
    change: &RaiseEpoch,
) -> Decision<PoolRow> {
    let RaiseEpoch { from, to } = *change;
    if to > from {
        let params = named_params! {
            ":from": column::at_most(from),
            ":to": column::integer("epoch", to)?,
            ":by": origin.actor.to_bytes(),
        };
        transaction.write(sql!("pool", "raise_epoch"), params)?;
    }
    answer(transaction, |found| {
        found.pool.epoch == to && found.raised_from == from && found.raised_by == Some(origin.actor)
    })
}

/// Marks the epoch open.
pub(in crate::sqlite) fn open_epoch(
    transaction: &Transaction<'_>,
    _origin: &Origin,
    epoch: &u64,
) -> Decision<PoolRow> {
    transaction.write(sql!("pool", "open_epoch"), named_params! {":epoch": column::at_most(*epoch)})?;
    answer(transaction, |found| found.pool.epoch == *epoch)
}

/// Changes the configuration. A change that changes nothing raises no revision, so it can be repeated.
pub(in crate::sqlite) fn configure(
    transaction: &Transaction<'_>,
    _origin: &Origin,
    change: &Configure,
) -> Decision<PoolRow> {
    let before = find(transaction)?.pool;
    let global_limit = change.global_limit.unwrap_or(before.global_limit);
    let lease_ms = change.lease_ms.unwrap_or(before.lease_ms);
    let mut queues = 0;
    if let Some(queue) = &change.pause {
        queues += transaction.write(sql!("pool", "pause"), named_params! {":queue": queue})?;
    }
    if let Some(queue) = &change.resume {
        queues += transaction.write(sql!("pool", "resume"), named_params! {":queue": queue})?;
    }
    if queues > 0 || global_limit != before.global_limit || lease_ms != before.lease_ms {
        transaction.write_one(
            sql!("pool", "configure"),
            named_params! {":global_limit": global_limit, ":lease_ms": column::integer("lease_ms", lease_ms)?},
        )?;
    }
    answer(transaction, |_| true)
}

/// Remembers the target that is named first; a later one changes nothing.
pub(in crate::sqlite) fn adopt_target(
    transaction: &Transaction<'_>,
    _origin: &Origin,
    target: &TargetId,
) -> Decision<PoolRow> {
    transaction.write(sql!("pool", "adopt_target"), named_params! {":target": target.to_bytes()})?;
    answer(transaction, |_| true)
}
