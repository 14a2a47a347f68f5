//! `RequestCancel`: from here on nothing of the job will be published.

use protocol::{Action as Name, AttemptId, Detail, Guard, Stamped};
use tokio_postgres::Row;

use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decided, Decision, Entry, mark};
use crate::postgres::params::Params;
use crate::postgres::statements::Statements;
use crate::{CancelRequested, RequestCancel};

const GUARDS: &[Guard] = &[Guard::Cancellable];

/// The action.
#[doc(alias = "RequestCancel")]
pub(in crate::postgres) struct Cancels;

impl Action for Cancels {
    type Request = RequestCancel;
    type Effect = CancelRequested;
    const DOING: &'static str = "request cancels";

    fn text(statements: &Statements) -> &str {
        &statements.request_cancel
    }

    fn keys(request: &RequestCancel) -> Vec<Key<'_>> {
        vec![Key::Id(request.job.0)]
    }

    fn params(now: Option<i64>, rows: &[&RequestCancel]) -> Result<Params, String> {
        Ok(Params::new().now(now).ids(rows.iter().map(|row| row.job.to_bytes())))
    }

    fn decide(asker: Asker<'_>, request: &RequestCancel, row: &Row) -> Decision<CancelRequested> {
        let mut entry = Entry {
            asker,
            action: Name::RequestCancel,
            job: request.job,
            attempt: None,
            token: None,
            judged: &[],
            detail: Detail::default(),
        };
        if !holds(row, "job_exists")? {
            return entry.refused(None, Guard::JobExists);
        }
        let seen = column::seen(row)?;
        let attempt = column::maybe_id(row, "attempt")?.map(AttemptId::from_bytes);
        if holds(row, "already")? {
            let effect = CancelRequested { phase: seen.phase, attempt };
            return Decided::silent(Stamped::taken(mark(seen.revision), effect));
        }
        entry.attempt = attempt;
        entry.token = Some(column::token(row, "token")?);
        if let Some(guard) = first_false(row, GUARDS)? {
            return entry.refused(Some(seen), guard);
        }
        let phase = column::phase(row, "phase_after")?;
        entry.detail.phase_after = Some(phase);
        entry.detail.max_attempts = Some(seen.max_attempts);
        entry.taken(seen.revision + 1, CancelRequested { phase, attempt })
    }
}
