//! What every end of an attempt's authority, and every end of a job, writes beside the job's row.

use protocol::{AttemptId, JobId, Phase, Timestamp, Token, Verdict, limit};
use rusqlite::{Row, named_params};

use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Transaction, mark};
use crate::sqlite::trouble::Trouble;
use crate::{Ended, ProgramExit};

/// An attempt's end, as the ledger keeps it.
pub(super) struct End<'a> {
    pub(super) job: JobId,
    pub(super) attempt: AttemptId,
    pub(super) token: Token,
    pub(super) verdict: Verdict,
    pub(super) error: Option<&'a str>,
    pub(super) exit: Option<ProgramExit>,
    /// Whether the attempt itself said so, so that its process is known to be gone.
    pub(super) stopped: bool,
    /// The job's revision and where it stands, after the end.
    pub(super) revision: u64,
    pub(super) ended: Ended,
}

/// Writes the end of an attempt, after the job's row: the ledger, its error, its stage; and what a job's end needs.
pub(super) fn end_attempt(transaction: &Transaction<'_>, end: &End<'_>) -> Result<(), Trouble> {
    let attempt = end.attempt.to_bytes();
    let (exit_code, exit_signal) = column::exit_columns(end.exit);
    transaction.write_one(
        sql!("end_attempt", "ledger"),
        named_params! {
            ":attempt": attempt,
            ":now": transaction.now.0,
            ":verdict": column::verdict_name(end.verdict),
            ":exit_code": exit_code,
            ":exit_signal": exit_signal,
            ":revision": column::integer("revision", end.revision)?,
            ":phase_after": end.ended.phase.name(),
            ":due": end.ended.due.map(|due| due.0),
        },
    )?;
    transaction.write_one(sql!("end_attempt", "forget_running"), named_params! {":attempt": attempt})?;
    write_error(transaction, end)?;
    if end.ended.phase.is_terminal() {
        end_job(transaction, end.job)?;
    } else {
        transaction
            .write(sql!("end_attempt", "forget_inherited"), named_params! {":job": end.job.to_bytes()})?;
    }
    transaction.write_one(
        sql!("end_attempt", "stage"),
        named_params! {
            ":job": end.job.to_bytes(),
            ":attempt": attempt,
            ":token": end.token.0,
            ":now": transaction.now.0,
            ":stopped": end.stopped,
            ":committed": end.verdict == Verdict::Succeeded,
        },
    )
}

fn write_error(transaction: &Transaction<'_>, end: &End<'_>) -> Result<(), Trouble> {
    let Some(error) = end.error else { return Ok(()) };
    let job = end.job.to_bytes();
    let error = column::storable(error, limit::ERROR_BYTES);
    transaction.write_one(
        sql!("end_attempt", "error"),
        named_params! {":job": job, ":token": end.token.0, ":error": error},
    )?;
    if end.token.0 > limit::ERRORS_KEPT {
        let newest_gone = end.token.0 - limit::ERRORS_KEPT;
        transaction.write(
            sql!("end_attempt", "trim_errors"),
            named_params! {":job": job, ":newest_gone": newest_gone},
        )?;
    }
    Ok(())
}

/// What the end of a job brings with it.
pub(super) fn end_job(transaction: &Transaction<'_>, job: JobId) -> Result<(), Trouble> {
    transaction.write(sql!("end_job", "stages"), named_params! {":job": job.to_bytes()})?;
    transaction.write(sql!("end_job", "checkpoints"), named_params! {":job": job.to_bytes()})?;
    Ok(())
}

/// The attempt waits for its successor: the row in `retry_wait`.
pub(super) fn wait(transaction: &Transaction<'_>, job: JobId, due: Timestamp) -> Result<(), Trouble> {
    transaction.write_one(sql!("retry_wait", "put"), named_params! {":due": due.0, ":job": job.to_bytes()})
}

/// Where the job stands after a failure: a retry while attempts are left.
pub(super) fn after_failure(attempts_left: bool, due: Timestamp) -> Ended {
    if attempts_left {
        Ended { phase: Phase::RetryWait, due: Some(due) }
    } else {
        Ended { phase: Phase::Failed, due: None }
    }
}

/// The ledger's row of the attempt that a request names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ledger {
    pub(super) verdict: Verdict,
    revision: u64,
    ended: Ended,
}

/// Reads the ledger's columns beside a guard; `None` when the attempt has not ended.
pub(super) fn ledger(row: &Row<'_>) -> Result<Option<Ledger>, Trouble> {
    let Some(verdict) = row.get::<_, Option<String>>("verdict")? else { return Ok(None) };
    Ok(Some(Ledger {
        verdict: column::verdict(&verdict)?,
        revision: column::count(row, "ended_revision")?,
        ended: Ended {
            phase: column::phase(row, "phase_after")?,
            due: column::maybe_time(row, "ended_due")?,
        },
    }))
}

impl Ledger {
    /// The answer that the attempt's end was given when it was new.
    pub(super) fn again(self) -> Decision<Ended> {
        Decided::silent(protocol::Stamped::taken(mark(self.revision), self.ended))
    }
}
