//! `dispatchNeeded[j]`: the outbox's row.

use protocol::{JobId, Timestamp};
use rusqlite::named_params;

use crate::sqlite::section::sql;
use crate::sqlite::transaction::Transaction;
use crate::sqlite::trouble::Trouble;

/// `dispatchNeeded' = TRUE`, at the end of the window among those of the same due time.
pub(super) fn put(transaction: &Transaction<'_>, job: JobId, due: Timestamp) -> Result<(), Trouble> {
    transaction.write_one(
        sql!("outbox", "put"),
        named_params! {":job": job.to_bytes(), ":due": due.0, ":now": transaction.now.0},
    )
}

/// `dispatchNeeded' = FALSE`.
pub(super) fn remove(transaction: &Transaction<'_>, job: JobId) -> Result<(), Trouble> {
    transaction.write_one(sql!("outbox", "remove"), named_params! {":job": job.to_bytes()})
}

/// The row stays and is not offered any more.
pub(super) fn set_aside(transaction: &Transaction<'_>, job: JobId, reason: &str) -> Result<(), Trouble> {
    transaction
        .write_one(sql!("outbox", "set_aside"), named_params! {":job": job.to_bytes(), ":reason": reason})
}
