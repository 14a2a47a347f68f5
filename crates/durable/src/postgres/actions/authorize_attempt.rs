//! `AuthorizeAttempt`: the claim allocates the next attempt and its token.
//!
//! Two statements: what the claim gives is written once, so it is read and decoded first, and only what can be decoded
//! is claimed; the claim itself is one statement.

use protocol::{Action as Name, Detail, Guard, JobSpec, Mark, Phase, Stamped, Token};
use tokio_postgres::Row;

use crate::postgres::batch::{Action, Key};
use crate::postgres::column::{self, first_false, holds};
use crate::postgres::entry::{Asker, Decided, Decision, Entry, mark};
use crate::postgres::params::Params;
use crate::postgres::statements::Statements;
use crate::{AuthorizeAttempt, Authorized, Checkpoint, form};

const GUARDS: &[Guard] = &[
    Guard::Lost,
    Guard::AttemptUnused,
    Guard::NotSetAside,
    Guard::PhaseQueued,
    Guard::DispatchNeeded,
    Guard::AttemptsLeft,
    Guard::CheckpointChanged,
];

/// A claim, and what it would give, or why that cannot be decoded.
pub(in crate::postgres) struct Claim {
    pub(in crate::postgres) request: AuthorizeAttempt,
    pub(in crate::postgres) gives: Result<(JobSpec, Option<Checkpoint>), String>,
}

/// The action.
#[doc(alias = "AuthorizeAttempt")]
pub(in crate::postgres) struct Claims;

impl Action for Claims {
    type Request = Claim;
    type Effect = Authorized;
    const DOING: &'static str = "claim attempts";

    fn text(statements: &Statements) -> &str {
        &statements.authorize_attempt
    }

    fn refusal(claim: &Claim) -> Option<String> {
        form::integer("epoch", claim.request.epoch).err()
    }

    fn keys(claim: &Claim) -> Vec<Key<'_>> {
        vec![Key::Id(claim.request.job.0), Key::Id(claim.request.attempt.0)]
    }

    fn params(now: Option<i64>, rows: &[&Claim]) -> Result<Params, String> {
        let requests = || rows.iter().map(|row| &row.request);
        Ok(Params::new()
            .now(now)
            .ids(requests().map(|request| request.job.to_bytes()))
            .ids(requests().map(|request| request.attempt.to_bytes()))
            .ids(requests().map(|request| request.worker.to_bytes()))
            .ids(requests().map(|request| request.reservation.to_bytes()))
            .bigs(requests().map(|request| form::at_most(request.epoch)))
            .bigs(requests().map(|request| form::at_most(request.checkpoint_revision)))
            .texts(rows.iter().map(|row| row.gives.as_ref().err().cloned())))
    }

    fn decide(asker: Asker<'_>, claim: &Claim, row: &Row) -> Decision<Authorized> {
        let request = &claim.request;
        if !holds(row, "job_exists")? {
            return entry(asker, request).refused(None, Guard::JobExists);
        }
        if holds(row, "already_yours")? {
            return again(entry(asker, request), claim, row);
        }
        let seen = column::seen(row)?;
        let mut entry = entry(asker, request);
        if let Some(guard) = first_false(row, GUARDS)? {
            return entry.refused(Some(seen), guard);
        }
        let (spec, checkpoint) = match &claim.gives {
            Ok(gives) => gives.clone(),
            Err(reason) => return Decided::silent(Stamped::set_aside(mark(seen.revision), reason.clone())),
        };
        let token = Token(column::small(row, "token")? + 1);
        entry.token = Some(token);
        entry.detail.progress = Some(column::count(row, "progress")?);
        entry.detail.max_attempts = Some(seen.max_attempts);
        entry.taken(seen.revision + 1, Authorized { token, spec, checkpoint })
    }
}

fn entry<'a>(asker: Asker<'a>, request: &'a AuthorizeAttempt) -> Entry<'a> {
    Entry {
        asker,
        action: Name::AuthorizeAttempt,
        job: request.job,
        attempt: Some(request.attempt),
        token: None,
        judged: &request.judged,
        detail: Detail {
            worker: Some(request.worker),
            reservation: Some(request.reservation),
            checkpoint_revision: Some(request.checkpoint_revision),
            phase_after: Some(Phase::Running),
            ..Detail::default()
        },
    }
}

/// The same claim again: the answer it was given.
fn again(mut entry: Entry<'_>, claim: &Claim, row: &Row) -> Decision<Authorized> {
    let inherited = column::count(row, "claimed_checkpoint_revision")?;
    let revision = column::count(row, "claimed_revision")?;
    Decided::silent(match &claim.gives {
        Ok((spec, checkpoint)) if checkpoint.as_ref().map_or(0, |given| given.revision) == inherited => {
            let token = column::token(row, "claimed_token")?;
            let (spec, checkpoint) = (spec.clone(), checkpoint.clone());
            entry.token = Some(token);
            return entry.again(revision, Authorized { token, spec, checkpoint });
        }
        // It was claimed on another checkpoint, after this request had read its own.
        Ok(_) => Stamped::refused(mark(revision), Guard::CheckpointChanged),
        Err(reason) => Stamped::set_aside(Mark::default(), reason.clone()),
    })
}
