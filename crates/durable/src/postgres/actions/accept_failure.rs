//! `AcceptFailure`: the attempt failed; the job waits for a retry, or has failed.

use protocol::{Action as Name, Detail, FailureCause, Guard, Verdict, limit};
use tokio_postgres::Row;

use super::end;
use super::reject_outcome::reject_outcome;
use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decision, Entry};
use crate::postgres::params::{Params, small};
use crate::postgres::statements::Statements;
use crate::{AcceptFailure, Ended, form};

const GUARDS: &[Guard] = &[Guard::Authority, Guard::PhaseRunning, Guard::NotCancelRequested];

/// The action.
#[doc(alias = "AcceptFailure")]
pub(in crate::postgres) struct Failures;

impl Action for Failures {
    type Request = AcceptFailure;
    type Effect = Ended;
    const DOING: &'static str = "accept failures";

    fn text(statements: &Statements) -> &str {
        &statements.accept_failure
    }

    fn refusal(request: &AcceptFailure) -> Option<String> {
        let lost = request.cause == FailureCause::Lost;
        lost.then(|| "cause is lost; allowed is any other: only the reaper judges that".to_owned())
    }

    fn keys(request: &AcceptFailure) -> Vec<Key<'_>> {
        vec![Key::Id(request.job.0)]
    }

    fn weight(_: &AcceptFailure) -> usize {
        limit::ERROR_BYTES
    }

    fn params(now: Option<i64>, rows: &[&AcceptFailure]) -> Result<Params, String> {
        let cause = |row: &&AcceptFailure| form::verdict_name(Verdict::Failed(row.cause)).to_owned();
        Ok(Params::new()
            .now(now)
            .ids(rows.iter().map(|row| row.job.to_bytes()))
            .ids(rows.iter().map(|row| row.attempt.to_bytes()))
            .smalls(rows.iter().map(|row| small(row.token.0)))
            .texts(rows.iter().map(|row| Some(cause(row))))
            .texts(rows.iter().map(|row| Some(form::storable(&row.error, limit::ERROR_BYTES))))
            .maybe_smalls(rows.iter().map(|row| form::exit_columns(row.exit).0))
            .maybe_smalls(rows.iter().map(|row| form::exit_columns(row.exit).1))
            .texts(rows.iter().map(|row| Some(row.chance.to_string()))))
    }

    fn decide(asker: Asker<'_>, request: &AcceptFailure, row: &Row) -> Decision<Ended> {
        let mut entry = Entry {
            asker,
            action: Name::AcceptFailure,
            job: request.job,
            attempt: Some(request.attempt),
            token: Some(request.token),
            judged: &[],
            detail: Detail { cause: Some(request.cause), ..Detail::default() },
        };
        if !holds(row, "job_exists")? {
            return reject_outcome(entry, None, Guard::Authority);
        }
        if matches!(end::verdict(row)?, Some(Verdict::Failed(cause)) if cause != FailureCause::Lost) {
            let is_permanent = request.cause == FailureCause::Permanent;
            entry.detail.max_attempts = is_permanent.then_some(request.token.0);
            return end::again_of_its_worker(entry, row);
        }
        let seen = column::seen(row)?;
        if let Some(guard) = first_false(row, GUARDS)? {
            return reject_outcome(entry, Some(seen), guard);
        }
        let ended = end::ended(row)?;
        entry.detail.phase_after = Some(ended.phase);
        entry.detail.max_attempts = Some(column::small(row, "max_attempts_after")?);
        entry.taken(seen.revision + 1, ended)
    }
}
