//! `AcceptSuccess`: the one compare-and-swap that publishes.

use protocol::{Action as Name, Detail, Guard, Phase, Verdict};
use tokio_postgres::Row;

use super::end;
use super::reject_outcome::reject_outcome;
use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decision, Entry};
use crate::postgres::params::{Params, small};
use crate::postgres::statements::Statements;
use crate::{AcceptSuccess, Ended, form};

const GUARDS: &[Guard] = &[Guard::Authority, Guard::PhaseRunning, Guard::NotCancelRequested];

/// The action.
#[doc(alias = "AcceptSuccess")]
pub(in crate::postgres) struct Successes;

impl Action for Successes {
    type Request = AcceptSuccess;
    type Effect = Ended;
    const DOING: &'static str = "publish results";

    fn text(statements: &Statements) -> &str {
        &statements.accept_success
    }

    fn refusal(request: &AcceptSuccess) -> Option<String> {
        form::refuse_result(request)
            .or_else(|| form::integer("files", request.result.files).err())
            .or_else(|| form::integer("bytes", request.result.bytes).err())
    }

    fn keys(request: &AcceptSuccess) -> Vec<Key<'_>> {
        vec![Key::Id(request.job.0)]
    }

    fn weight(_: &AcceptSuccess) -> usize {
        usize::try_from(protocol::limit::INLINE_BYTES).unwrap_or(usize::MAX)
    }

    fn params(now: Option<i64>, rows: &[&AcceptSuccess]) -> Result<Params, String> {
        Ok(Params::new()
            .now(now)
            .ids(rows.iter().map(|row| row.job.to_bytes()))
            .ids(rows.iter().map(|row| row.attempt.to_bytes()))
            .smalls(rows.iter().map(|row| small(row.token.0)))
            .bigs(rows.iter().map(|row| form::at_most(row.result.files)))
            .bigs(rows.iter().map(|row| form::at_most(row.result.bytes)))
            .byte_strings(rows.iter().map(|row| row.result.digest.to_vec()))
            .byte_strings(rows.iter().map(|row| form::document_bytes(&row.result.manifest))))
    }

    fn decide(asker: Asker<'_>, request: &AcceptSuccess, row: &Row) -> Decision<Ended> {
        let mut entry = Entry {
            asker,
            action: Name::AcceptSuccess,
            job: request.job,
            attempt: Some(request.attempt),
            token: Some(request.token),
            judged: &[],
            detail: Detail { phase_after: Some(Phase::Succeeded), ..Detail::default() },
        };
        if !holds(row, "job_exists")? {
            return reject_outcome(entry, None, Guard::Authority);
        }
        if end::verdict(row)? == Some(Verdict::Succeeded) {
            return end::again_of_its_worker(entry, row);
        }
        let seen = column::seen(row)?;
        if let Some(guard) = first_false(row, GUARDS)? {
            return reject_outcome(entry, Some(seen), guard);
        }
        entry.detail.max_attempts = Some(seen.max_attempts);
        entry.taken(seen.revision + 1, end::ended(row)?)
    }
}
