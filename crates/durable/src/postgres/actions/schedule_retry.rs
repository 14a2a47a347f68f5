//! `ScheduleRetry`: a job whose retry is due is queued again, by its due time.

use protocol::{Action as Name, Detail, Guard, JobId, Phase, Stamped};
use tokio_postgres::Row;

use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decided, Decision, Entry, mark};
use crate::postgres::params::Params;
use crate::postgres::statements::Statements;
use crate::{ScheduleRetry, Scheduled};

const GUARDS: &[Guard] = &[Guard::PhaseRetryWait, Guard::Due];

/// The action.
#[doc(alias = "ScheduleRetry")]
pub(in crate::postgres) struct Retries;

impl Action for Retries {
    type Request = ScheduleRetry;
    type Effect = Scheduled;
    const DOING: &'static str = "schedule retries";

    fn text(statements: &Statements) -> &str {
        &statements.schedule_retry
    }

    fn keys(request: &ScheduleRetry) -> Vec<Key<'_>> {
        vec![Key::Id(request.job.0)]
    }

    fn params(now: Option<i64>, rows: &[&ScheduleRetry]) -> Result<Params, String> {
        Ok(Params::new().now(now).ids(rows.iter().map(|row| row.job.to_bytes())))
    }

    fn decide(asker: Asker<'_>, request: &ScheduleRetry, row: &Row) -> Decision<Scheduled> {
        let job = request.job;
        let mut entry = entry(asker, job);
        if !holds(row, "job_exists")? {
            return entry.refused(None, Guard::PhaseRetryWait);
        }
        let seen = column::seen(row)?;
        if holds(row, "already")? {
            return Decided::silent(Stamped::taken(mark(seen.revision), Scheduled { job }));
        }
        entry.token = Some(column::token(row, "token")?);
        if let Some(guard) = first_false(row, GUARDS)? {
            return entry.refused(Some(seen), guard);
        }
        entry.detail.max_attempts = Some(seen.max_attempts);
        entry.taken(seen.revision + 1, Scheduled { job })
    }
}

/// The action's line in the trace; `retry` writes it, too.
pub(super) fn entry(asker: Asker<'_>, job: JobId) -> Entry<'_> {
    Entry {
        asker,
        action: Name::ScheduleRetry,
        job,
        attempt: None,
        token: None,
        judged: &[],
        detail: Detail { phase_after: Some(Phase::Queued), ..Detail::default() },
    }
}
