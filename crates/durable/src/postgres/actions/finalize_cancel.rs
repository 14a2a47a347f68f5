//! `FinalizeCancel`: the attempt of a cancelling job loses its authority; the job is cancelled.

use protocol::{Action as Name, Detail, Guard, Phase, Verdict};
use tokio_postgres::Row;

use super::end;
use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decision, Entry};
use crate::postgres::params::Params;
use crate::postgres::statements::Statements;
use crate::{Ended, FinalizeCancel};

const GUARDS: &[Guard] = &[Guard::PhaseCancelling, Guard::Authority];

/// The action.
#[doc(alias = "FinalizeCancel")]
pub(in crate::postgres) struct CancelEnds;

impl Action for CancelEnds {
    type Request = FinalizeCancel;
    type Effect = Ended;
    const DOING: &'static str = "finalize cancels";

    fn text(statements: &Statements) -> &str {
        &statements.finalize_cancel
    }

    fn keys(request: &FinalizeCancel) -> Vec<Key<'_>> {
        vec![Key::Id(request.job.0)]
    }

    fn params(now: Option<i64>, rows: &[&FinalizeCancel]) -> Result<Params, String> {
        Ok(Params::new()
            .now(now)
            .ids(rows.iter().map(|row| row.job.to_bytes()))
            .ids(rows.iter().map(|row| row.attempt.to_bytes()))
            // A worker knows that its process tree is gone; a canceller has only judged.
            .bools(rows.iter().map(|row| row.judged.is_empty())))
    }

    fn decide(asker: Asker<'_>, request: &FinalizeCancel, row: &Row) -> Decision<Ended> {
        let mut entry = Entry {
            asker,
            action: Name::FinalizeCancel,
            job: request.job,
            attempt: Some(request.attempt),
            token: None,
            judged: &request.judged,
            detail: Detail { phase_after: Some(Phase::Cancelled), ..Detail::default() },
        };
        if !holds(row, "job_exists")? {
            return entry.refused(None, Guard::PhaseCancelling);
        }
        if end::verdict(row)? == Some(Verdict::Cancelled) {
            return end::again(row);
        }
        let seen = column::seen(row)?;
        entry.token = Some(column::token(row, "token")?);
        entry.detail.max_attempts = Some(seen.max_attempts);
        if let Some(guard) = first_false(row, GUARDS)? {
            return entry.refused(Some(seen), guard);
        }
        entry.taken(seen.revision + 1, end::ended(row)?)
    }
}
