//! What the statements that end an attempt answer alike.

use protocol::{Phase, Stamped, Verdict};
use tokio_postgres::Row;

use crate::Ended;
use crate::postgres::column::{self, get};
use crate::postgres::entry::{Decided, Decision, mark};
use crate::postgres::trouble::Trouble;

/// How the attempt that a request names has ended; `None` when it has not.
pub(super) fn verdict(row: &Row) -> Result<Option<Verdict>, Trouble> {
    get::<Option<&str>>(row, "verdict")?.map(column::verdict).transpose()
}

/// The answer that the attempt's end was given when it was new.
pub(super) fn again(row: &Row) -> Decision<Ended> {
    let ended =
        Ended { phase: column::phase(row, "ended_phase")?, due: column::maybe_time(row, "ended_due")? };
    Decided::silent(Stamped::taken(mark(column::count(row, "ended_revision")?), ended))
}

/// Where the job stands after the end that was decided just now.
pub(super) fn ended(row: &Row) -> Result<Ended, Trouble> {
    let phase: Phase = column::phase(row, "phase_after")?;
    Ok(Ended { phase, due: column::maybe_time(row, "due_after")? })
}
