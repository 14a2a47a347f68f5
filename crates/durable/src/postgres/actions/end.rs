//! What the statements that end an attempt answer alike.

use protocol::{Phase, Stamped, Verdict};
use tokio_postgres::Row;

use crate::Ended;
use crate::postgres::column::{self, get};
use crate::postgres::entry::{Decided, Decision, Entry, mark};
use crate::postgres::trouble::Trouble;

/// How the attempt that a request names has ended; `None` when it has not.
pub(super) fn verdict(row: &Row) -> Result<Option<Verdict>, Trouble> {
    get::<Option<&str>>(row, "verdict")?.map(column::verdict).transpose()
}

/// The end as it was written when it was new, and its revision.
fn written(row: &Row) -> Result<(u64, Ended), Trouble> {
    let ended =
        Ended { phase: column::phase(row, "ended_phase")?, due: column::maybe_time(row, "ended_due")? };
    Ok((column::count(row, "ended_revision")?, ended))
}

/// The answer that the attempt's end was given when it was new. The trace has it from whoever ended it, which may be
/// another replica.
pub(super) fn again(row: &Row) -> Decision<Ended> {
    let (revision, ended) = written(row)?;
    Decided::silent(Stamped::taken(mark(revision), ended))
}

/// The same of an end that only the attempt's own worker asks for.
pub(super) fn again_of_its_worker(mut entry: Entry<'_>, row: &Row) -> Decision<Ended> {
    let (revision, ended) = written(row)?;
    entry.detail.phase_after = Some(ended.phase);
    entry.again(revision, ended)
}

/// Where the job stands after the end that was decided just now.
pub(super) fn ended(row: &Row) -> Result<Ended, Trouble> {
    let phase: Phase = column::phase(row, "phase_after")?;
    Ok(Ended { phase, due: column::maybe_time(row, "due_after")? })
}
