//! Submit: accepts jobs. The spec's `Jobs` are those that were accepted, so no event is recorded.

use protocol::{Guard, JobId, JobSpec, Phase, Stamped, Timestamp};
use tokio_postgres::Row;

use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, get};
use crate::postgres::entry::{Asker, Decided, Decision, mark};
use crate::postgres::params::{Params, small};
use crate::postgres::statements::Statements;
use crate::postgres::trouble::Trouble;
use crate::{Submit, Submitted, form};

/// The action.
pub(in crate::postgres) struct Submissions;

impl Action for Submissions {
    type Request = Submit;
    type Effect = Submitted;
    const DOING: &'static str = "submit jobs";
    const MOVES: bool = false;

    fn text(statements: &Statements) -> &str {
        &statements.submit
    }

    fn refusal(request: &Submit) -> Option<String> {
        form::refuse_spec(&request.spec)
    }

    fn keys(request: &Submit) -> Vec<Key<'_>> {
        let key = request.spec.idempotency_key.as_deref().map(Key::Text);
        std::iter::once(Key::Id(request.job.0)).chain(key).collect()
    }

    fn weight(request: &Submit) -> usize {
        let command =
            request.spec.command.iter().flat_map(|command| &command.argv).map(String::len).sum::<usize>();
        request.spec.args.len() + command
    }

    fn params(now: Option<i64>, rows: &[&Submit]) -> Result<Params, String> {
        params(now, rows)
    }

    fn decide(_: Asker<'_>, request: &Submit, row: &Row) -> Decision<Submitted> {
        answer(request, row)
    }
}

/// The statement's parameters.
pub(in crate::postgres) fn params(now: Option<i64>, rows: &[&Submit]) -> Result<Params, String> {
    let specs = || rows.iter().map(|row| &row.spec);
    let words = specs().map(form::words).collect::<Result<Vec<_>, _>>()?;
    let texts = specs().map(|spec| form::spec_text(spec).map(Some)).collect::<Result<Vec<_>, _>>()?;
    Ok(Params::new()
        .now(now)
        .ids(rows.iter().map(|row| row.job.to_bytes()))
        .maybe_ids(rows.iter().map(|row| row.retry_of.map(JobId::to_bytes)))
        .texts(specs().map(|spec| Some(spec.kind.clone())))
        .texts(specs().map(|spec| Some(spec.queue.clone())))
        .smalls(specs().map(|spec| i32::from(spec.priority.0)))
        .smalls(specs().map(|spec| small(spec.max_attempts)))
        .bigs(specs().map(|spec| form::at_most(spec.retry.base_ms)))
        .bigs(specs().map(|spec| form::at_most(spec.retry.cap_ms)))
        .maybe_bigs(specs().map(|spec: &JobSpec| spec.scheduled_at.map(|Timestamp(at)| at)))
        .texts(specs().map(|spec| spec.idempotency_key.clone()))
        .texts(words)
        .texts(texts))
}

/// What the statement's answer says.
pub(in crate::postgres) fn answer(request: &Submit, row: &Row) -> Decision<Submitted> {
    let Some(job) = column::maybe_id(row, "job")?.map(JobId::from_bytes) else {
        let effect = Submitted { job: request.job, existed: false, phase: Phase::Queued };
        return Decided::silent(Stamped::taken(mark(1), effect));
    };
    if column::maybe_count(row, "revision")?.is_none() {
        return Err(Trouble::BadRow(format!("the idempotency key stands for {job}, which is not there")));
    }
    let (phase, revision) = (column::phase(row, "phase")?, column::count(row, "revision")?);
    let retry_of = column::maybe_id(row, "retry_of")?.map(JobId::from_bytes);
    let same_spec = form::spec(get(row, "spec")?).is_ok_and(|spec| spec == request.spec);
    let repeated = job == request.job;
    Decided::silent(if same_spec && (!repeated || retry_of == request.retry_of) {
        Stamped::taken(mark(revision), Submitted { job, existed: !repeated, phase })
    } else {
        Stamped::refused(mark(revision), Guard::SameRequest)
    })
}
