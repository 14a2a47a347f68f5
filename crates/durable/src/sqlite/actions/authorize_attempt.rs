//! `AuthorizeAttempt`: the claim allocates the next attempt and its token.

use protocol::{Action, Detail, Guard, JobSpec, Origin, Phase, Stamped, Token};
use rusqlite::{Row, named_params};

use super::outbox;
use crate::sqlite::column;
use crate::sqlite::section::sql;
use crate::sqlite::transaction::{Decided, Decision, Entry, Seen, Transaction, first_false, mark};
use crate::sqlite::trouble::Trouble;
use crate::{AuthorizeAttempt, Authorized, Checkpoint};

const GUARDS: &[Guard] = &[
    Guard::Lost,
    Guard::AttemptUnused,
    Guard::NotSetAside,
    Guard::PhaseQueued,
    Guard::DispatchNeeded,
    Guard::AttemptsLeft,
    Guard::CheckpointChanged,
];

/// The job's row as the claim sees it.
struct Found {
    already_yours: bool,
    refused: Option<Guard>,
    seen: Seen,
    token: u32,
    progress: u64,
    checkpoint_revision: u64,
    spec: Result<JobSpec, String>,
}

/// Decides one claim.
#[doc(alias = "AuthorizeAttempt")]
pub(in crate::sqlite) fn authorize_attempt(
    transaction: &Transaction<'_>,
    origin: &Origin,
    request: &AuthorizeAttempt,
) -> Decision<Authorized> {
    let params = named_params! {
        ":job": request.job.to_bytes(),
        ":attempt": request.attempt.to_bytes(),
        ":checkpoint_revision": column::at_most(request.checkpoint_revision),
    };
    let Some(found) = transaction.row(sql!("authorize_attempt", "guards"), params, read)? else {
        return entry(origin, request, None).refused(transaction, None, Guard::JobExists);
    };
    if found.already_yours {
        return again(transaction, request, found);
    }
    if let Some(guard) = found.refused {
        return entry(origin, request, Some(&found)).refused(transaction, Some(found.seen), guard);
    }
    let checkpoint = match inherited(transaction, request, found.checkpoint_revision)? {
        Ok(checkpoint) => checkpoint,
        Err(reason) => return set_aside(transaction, request, found.seen, reason),
    };
    let entry = entry(origin, request, Some(&found));
    let spec = match found.spec {
        Ok(spec) => spec,
        Err(reason) => return set_aside(transaction, request, found.seen, reason),
    };
    take(transaction, request, found.progress)?;
    let effect = Authorized { token: Token(found.token + 1), spec, checkpoint };
    entry.taken(transaction, found.seen.revision + 1, effect)
}

fn read(row: &Row<'_>) -> Result<Found, Trouble> {
    let text: Option<String> = row.get("spec")?;
    Ok(Found {
        already_yours: row.get("already_yours")?,
        refused: first_false(row, GUARDS)?,
        seen: column::seen(row)?,
        token: row.get("token")?,
        progress: column::count(row, "progress")?,
        checkpoint_revision: column::count(row, "checkpoint_revision")?,
        spec: column::spec(text.as_deref()),
    })
}

fn entry<'a>(origin: &'a Origin, request: &'a AuthorizeAttempt, found: Option<&Found>) -> Entry<'a> {
    let claimable = found.filter(|found| found.refused.is_none());
    Entry {
        origin,
        action: Action::AuthorizeAttempt,
        job: request.job,
        attempt: Some(request.attempt),
        token: claimable.map(|found| Token(found.token + 1)),
        judged: &request.judged,
        detail: Detail {
            worker: Some(request.worker),
            reservation: Some(request.reservation),
            progress: claimable.map(|found| found.progress),
            checkpoint_revision: Some(request.checkpoint_revision),
            phase_after: Some(Phase::Running),
            max_attempts: found.map(|found| found.seen.max_attempts),
            ..Detail::default()
        },
    }
}

fn take(transaction: &Transaction<'_>, request: &AuthorizeAttempt, progress: u64) -> Result<(), Trouble> {
    let job = request.job.to_bytes();
    let attempt = request.attempt.to_bytes();
    transaction
        .write_one(sql!("authorize_attempt", "take"), named_params! {":job": job, ":attempt": attempt})?;
    transaction.write_one(
        sql!("authorize_attempt", "run"),
        named_params! {
            ":attempt": attempt,
            ":worker": request.worker.to_bytes(),
            ":reservation": request.reservation.to_bytes(),
            ":epoch": column::integer("epoch", request.epoch)?,
            ":now": transaction.now.0,
            ":job": job,
            ":checkpoint_revision": column::integer("checkpoint_revision", request.checkpoint_revision)?,
            ":progress": column::integer("progress", progress)?,
        },
    )?;
    outbox::remove(transaction, request.job)
}

/// The checkpoint of that revision; the inner error is the reason why it cannot be given.
fn inherited(
    transaction: &Transaction<'_>,
    request: &AuthorizeAttempt,
    revision: u64,
) -> Result<Result<Option<Checkpoint>, String>, Trouble> {
    if revision == 0 {
        return Ok(Ok(None));
    }
    let params = named_params! {
        ":job": request.job.to_bytes(),
        ":revision": column::integer("checkpoint_revision", revision)?,
    };
    match transaction.row(sql!("checkpoint", "at_revision"), params, column::checkpoint) {
        Ok(Some(checkpoint)) => Ok(Ok(Some(checkpoint))),
        Ok(None) => Ok(Err(format!("the checkpoint of revision {revision} is not in the store"))),
        Err(Trouble::BadRow(reason)) => Ok(Err(format!("the checkpoint cannot be given: {reason}"))),
        Err(trouble) => Err(trouble),
    }
}

/// The same claim again: the answer it was given.
fn again(transaction: &Transaction<'_>, request: &AuthorizeAttempt, found: Found) -> Decision<Authorized> {
    let params = named_params! {":attempt": request.attempt.to_bytes()};
    let claimed = transaction.row(sql!("authorize_attempt", "again"), params, |row| {
        Ok((row.get("token")?, column::count(row, "revision")?, column::count(row, "checkpoint_revision")?))
    })?;
    let gone = || Trouble::BadRow("the attempt has authority but does not run".to_owned());
    let (token, revision, checkpoint_revision) = claimed.ok_or_else(gone)?;
    let checkpoint = inherited(transaction, request, checkpoint_revision)?.map_err(Trouble::BadRow)?;
    let spec = found.spec.map_err(Trouble::BadRow)?;
    Decided::silent(Stamped::taken(mark(revision), Authorized { token: Token(token), spec, checkpoint }))
}

/// A row that cannot be claimed: it stays in the outbox with a reason and is not offered.
fn set_aside(
    transaction: &Transaction<'_>,
    request: &AuthorizeAttempt,
    seen: Seen,
    reason: String,
) -> Decision<Authorized> {
    outbox::set_aside(transaction, request.job, &reason)?;
    Decided::silent(Stamped::set_aside(mark(seen.revision), reason))
}
