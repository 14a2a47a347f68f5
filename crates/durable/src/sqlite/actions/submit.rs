//! Submit: accepts a job. The spec's `Jobs` are those that were accepted, so no event is recorded.

use protocol::{Guard, JobId, Mark, Origin, Phase, Stamped};
use rusqlite::named_params;

use super::outbox;
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Params, Transaction, mark};
use crate::sqlite::trouble::Trouble;
use crate::{Submit, Submitted, form};

/// A job that is in the store already.
struct Known {
    job: JobId,
    phase: Phase,
    revision: u64,
    retry_of: Option<JobId>,
    spec: Option<String>,
}

/// Decides one submission.
pub(in crate::sqlite) fn submit(
    transaction: &Transaction<'_>,
    _origin: &Origin,
    request: &Submit,
) -> Decision<Submitted> {
    if let Some(reason) = form::refuse_spec(&request.spec) {
        return Decided::silent(Stamped::set_aside(Mark::default(), reason));
    }
    if let Some(key) = &request.spec.idempotency_key
        && let Some(known) = known(transaction, sql!("submit", "by_key"), named_params! {":key": key})?
    {
        return answer_known(request, &known);
    }
    if insert(transaction, request)? {
        let effect = Submitted { job: request.job, existed: false, phase: Phase::Queued };
        return Decided::silent(Stamped::taken(mark(1), effect));
    }
    let by_job = named_params! {":job": request.job.to_bytes()};
    match known(transaction, sql!("submit", "by_job"), by_job)? {
        Some(known) => answer_known(request, &known),
        None => Err(Trouble::BadRow("the job is neither new nor known".to_owned())),
    }
}

fn known(transaction: &Transaction<'_>, sql: &str, params: Params<'_>) -> Result<Option<Known>, Trouble> {
    transaction.row(sql, params, |row| {
        Ok(Known {
            job: JobId::from_bytes(column::id(row, "job")?),
            phase: column::phase(row, "phase")?,
            revision: column::count(row, "revision")?,
            retry_of: column::maybe_id(row, "retry_of")?.map(JobId::from_bytes),
            spec: row.get("spec")?,
        })
    })
}

fn answer_known(request: &Submit, known: &Known) -> Decision<Submitted> {
    let same_spec = column::spec(known.spec.as_deref()).is_ok_and(|spec| spec == request.spec);
    let repeated = known.job == request.job;
    Decided::silent(if same_spec && (!repeated || known.retry_of == request.retry_of) {
        let effect = Submitted { job: known.job, existed: !repeated, phase: known.phase };
        Stamped::taken(mark(known.revision), effect)
    } else {
        Stamped::refused(mark(known.revision), Guard::SameRequest)
    })
}

/// Writes a new job with everything that belongs to it; `false` when the id is known.
pub(super) fn insert(transaction: &Transaction<'_>, request: &Submit) -> Result<bool, Trouble> {
    let Submit { job, spec, retry_of } = request;
    let job = job.to_bytes();
    // A time in the past is no way to the front.
    let due = spec.scheduled_at.map_or(transaction.now, |at| at.max(transaction.now));
    let inserted = transaction.write(
        sql!("submit", "job"),
        named_params! {
            ":job": job,
            ":kind": spec.kind,
            ":queue": spec.queue,
            ":priority": spec.priority.0,
            ":max_attempts": spec.max_attempts,
            ":retry_base_ms": column::at_most(spec.retry.base_ms),
            ":retry_cap_ms": column::at_most(spec.retry.cap_ms),
            ":now": transaction.now.0,
            ":due": due.0,
            ":retry_of": retry_of.map(JobId::to_bytes),
            ":words": form::words(spec).map_err(Trouble::BadRow)?,
        },
    )?;
    if inserted == 0 {
        return Ok(false);
    }
    transaction.write(
        sql!("submit", "spec"),
        named_params! {":job": job, ":spec": form::spec_text(spec).map_err(Trouble::BadRow)?},
    )?;
    if let Some(key) = &spec.idempotency_key {
        transaction.write(sql!("submit", "key"), named_params! {":key": key, ":job": job})?;
    }
    outbox::put(transaction, request.job, due)?;
    Ok(true)
}
