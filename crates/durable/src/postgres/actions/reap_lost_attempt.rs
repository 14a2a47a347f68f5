//! `ReapLostAttempt`: the authority of an attempt that was judged lost is revoked.

use protocol::{Action as Name, Detail, FailureCause, Guard, RetryPolicy, Verdict, limit};
use tokio_postgres::Row;

use super::end;
use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decision, Entry};
use crate::postgres::params::{Params, small};
use crate::postgres::statements::Statements;
use crate::{Ended, ReapLostAttempt, form};

const GUARDS: &[Guard] = &[Guard::Authority, Guard::PhaseRunning];

/// The action. It names the attempt that was judged, so a newer one is never revoked by an old judgement.
#[doc(alias = "ReapLostAttempt")]
pub(in crate::postgres) struct Losses;

impl Action for Losses {
    type Request = ReapLostAttempt;
    type Effect = Ended;
    const DOING: &'static str = "reap lost attempts";

    fn text(statements: &Statements) -> &str {
        &statements.reap_lost_attempt
    }

    fn keys(request: &ReapLostAttempt) -> Vec<Key<'_>> {
        vec![Key::Id(request.job.0)]
    }

    fn weight(_: &ReapLostAttempt) -> usize {
        limit::ERROR_BYTES
    }

    fn params(now: Option<i64>, rows: &[&ReapLostAttempt]) -> Result<Params, String> {
        Ok(Params::new()
            .now(now)
            .ids(rows.iter().map(|row| row.job.to_bytes()))
            .ids(rows.iter().map(|row| row.attempt.to_bytes()))
            .smalls(rows.iter().map(|row| small(row.token.0)))
            .texts(rows.iter().map(|row| Some(form::storable(&row.error, limit::ERROR_BYTES))))
            .texts(rows.iter().map(|row| Some(row.chance.to_string())))
            .big(form::at_most(RetryPolicy::AFTER_LOSS.base_ms))
            .big(form::at_most(RetryPolicy::AFTER_LOSS.cap_ms)))
    }

    fn decide(asker: Asker<'_>, request: &ReapLostAttempt, row: &Row) -> Decision<Ended> {
        let mut entry = Entry {
            asker,
            action: Name::ReapLostAttempt,
            job: request.job,
            attempt: Some(request.attempt),
            token: Some(request.token),
            judged: &request.judged,
            detail: Detail { cause: Some(FailureCause::Lost), ..Detail::default() },
        };
        if !holds(row, "job_exists")? {
            return entry.refused(None, Guard::Authority);
        }
        if end::verdict(row)? == Some(Verdict::Failed(FailureCause::Lost)) {
            return end::again(row);
        }
        let seen = column::seen(row)?;
        if let Some(guard) = first_false(row, GUARDS)? {
            return entry.refused(Some(seen), guard);
        }
        let ended = end::ended(row)?;
        entry.detail.phase_after = Some(ended.phase);
        entry.detail.max_attempts = Some(seen.max_attempts);
        entry.taken(seen.revision + 1, ended)
    }
}
