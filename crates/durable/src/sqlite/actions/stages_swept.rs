//! A sweep has visited the stage of an ended attempt.

use protocol::{Mark, Origin, Stamped};
use rusqlite::named_params;

use crate::StageSwept;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Transaction};

/// Records one visit.
pub(in crate::sqlite) fn stages_swept(
    transaction: &Transaction<'_>,
    _origin: &Origin,
    request: &StageSwept,
) -> Decision<()> {
    let params = named_params! {":job": request.job.to_bytes(), ":attempt": request.attempt.to_bytes()};
    if request.kept {
        transaction.write(sql!("stages_swept", "kept"), params)?;
        transaction.write(sql!("stages_swept", "done"), params)?;
    } else {
        transaction.write(sql!("stages_swept", "nothing_left"), params)?;
    }
    Decided::silent(Stamped::taken(Mark::default(), ()))
}
