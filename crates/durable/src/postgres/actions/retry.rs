//! The verb `retry`. Not an action of the spec by itself: on `retry_wait` it is `ScheduleRetry`, elsewhere a new
//! submission or the same row offered again. As with a claim, what the old job asks for is read first.

use protocol::{Guard, JobSpec, Mark, Stamped};
use tokio_postgres::Row;

use super::schedule_retry;
use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, get, holds};
use crate::postgres::entry::{Asker, Decided, Decision, mark};
use crate::postgres::params::{Params, small};
use crate::postgres::statements::Statements;
use crate::{Retried, Retry, form};

/// A retry, and what the old job asks for, or why that cannot be decoded.
pub(in crate::postgres) struct Repeat {
    pub(in crate::postgres) request: Retry,
    pub(in crate::postgres) asked: Result<JobSpec, String>,
}

impl Repeat {
    /// The work goes on under a new id, with the budget it was submitted with.
    fn spec(&self) -> JobSpec {
        let asked = self.asked.clone().unwrap_or_default();
        JobSpec { scheduled_at: None, idempotency_key: None, ..asked }
    }
}

/// The verb.
pub(in crate::postgres) struct Repeats;

impl Action for Repeats {
    type Request = Repeat;
    type Effect = Retried;
    const DOING: &'static str = "retry jobs";

    fn text(statements: &Statements) -> &str {
        &statements.retry
    }

    fn keys(repeat: &Repeat) -> Vec<Key<'_>> {
        vec![Key::Id(repeat.request.job.0), Key::Id(repeat.request.new_job.0)]
    }

    fn weight(repeat: &Repeat) -> usize {
        repeat.asked.as_ref().map_or(0, |spec| spec.args.len())
    }

    fn params(now: Option<i64>, rows: &[&Repeat]) -> Result<Params, String> {
        let specs: Vec<_> = rows.iter().map(|row| row.spec()).collect();
        let words = specs.iter().map(form::words).collect::<Result<Vec<_>, _>>()?;
        let texts =
            specs.iter().map(|spec| form::spec_text(spec).map(Some)).collect::<Result<Vec<_>, _>>()?;
        Ok(Params::new()
            .now(now)
            .ids(rows.iter().map(|row| row.request.job.to_bytes()))
            .ids(rows.iter().map(|row| row.request.new_job.to_bytes()))
            .texts(rows.iter().map(|row| row.asked.as_ref().err().cloned()))
            .texts(specs.iter().map(|spec| Some(spec.kind.clone())))
            .texts(specs.iter().map(|spec| Some(spec.queue.clone())))
            .smalls(specs.iter().map(|spec| i32::from(spec.priority.0)))
            .smalls(specs.iter().map(|spec| small(spec.max_attempts)))
            .bigs(specs.iter().map(|spec| form::at_most(spec.retry.base_ms)))
            .bigs(specs.iter().map(|spec| form::at_most(spec.retry.cap_ms)))
            .texts(words)
            .texts(texts))
    }

    fn decide(asker: Asker<'_>, repeat: &Repeat, row: &Row) -> Decision<Retried> {
        if !holds(row, "job_exists")? {
            return Decided::silent(Stamped::refused(Mark::default(), Guard::JobExists));
        }
        let seen = column::seen(row)?;
        let now = mark(seen.revision);
        let new_job = Retried::NewJob(repeat.request.new_job);
        match get::<Option<&str>>(row, "again")? {
            Some("due_now") => return Decided::silent(Stamped::taken(now, Retried::DueNow)),
            Some(_) => return Decided::silent(Stamped::taken(now, Retried::Offered)),
            None if holds(row, "made")? => return Decided::silent(Stamped::taken(now, new_job)),
            None => {}
        }
        match get::<Option<&str>>(row, "how")? {
            Some("due_now") => {
                let mut entry = schedule_retry::entry(asker, repeat.request.job);
                entry.token = Some(column::token(row, "token")?);
                entry.detail.max_attempts = Some(seen.max_attempts);
                entry.taken(seen.revision + 1, Retried::DueNow)
            }
            Some("offered") => Decided::silent(Stamped::taken(mark(seen.revision + 1), Retried::Offered)),
            Some(_) => Decided::silent(Stamped::taken(mark(1), new_job)),
            None => refused(repeat, row, now),
        }
    }
}

fn refused(repeat: &Repeat, row: &Row, seen: Mark) -> Decision<Retried> {
    if !holds(row, "cancellable")? {
        return Decided::silent(Stamped::refused(seen, Guard::Cancellable));
    }
    if !holds(row, "terminal")? {
        return Decided::silent(Stamped::refused(seen, Guard::Terminal));
    }
    Decided::silent(match &repeat.asked {
        Err(reason) => Stamped::set_aside(seen, reason.clone()),
        Ok(_) => Stamped::refused(seen, Guard::SameRequest),
    })
}
