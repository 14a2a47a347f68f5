//! From a reservation to a lease: verify the checkpoint, claim, activate.

use std::slice;
use std::sync::Arc;

use coordination::{ActivateAttempt, At, HandBack, ReapObserve};
use durable::{AuthorizeAttempt, Authorized, Checkpoint, Document, InvalidateCheckpoint, ReapLostAttempt};
use protocol::{Action, AttemptId, Detail, Fault, Guard, JobId, Judged, Mark, Stamped, Step, Token, told};
use target::{Depth, Manifest, Part, StageId};

use crate::attempt::Ticket;
use crate::keeper::claim_refused;
use crate::session::Session;
use crate::stage::StageError;

/// Parts up to this size are digested before a claim; of larger ones only existence and length are checked,
/// and their digest when they are restored.
const VERIFY_BYTES: u64 = 1024 * 1024;
/// How often a claim may meet another checkpoint than the one verified before it is given up.
const CHECKPOINT_TRIES: u32 = 5;
/// The part of a lease for which a job that could not be claimed is held before it is handed back.
const PAUSES_OF_A_LEASE: u32 = 8;
/// How often the reaping of an own attempt that cannot start is tried before it is left to the reaper.
const REAP_TRIES: u32 = 20;

/// An attempt with authority and a lease.
pub(crate) struct Claimed {
    pub(crate) job: JobId,
    pub(crate) attempt: AttemptId,
    pub(crate) token: Token,
    pub(crate) authorized: Authorized,
    /// The claim's mark: later requests rest on it.
    pub(crate) mark: Mark,
    pub(crate) epoch: u64,
    pub(crate) deadline: std::time::Duration,
}

/// A document's bytes, from the row or the target.
pub(crate) async fn read_document(session: &Session, document: &Document) -> Result<Vec<u8>, StageError> {
    match document {
        Document::Inline(bytes) => Ok(bytes.clone()),
        Document::Stored { key, length, digest } => {
            Ok(session.rooms.target.read(&Part::stored(key, *length, *digest)).await?)
        }
    }
}

/// Claims and activates; `None` when it was refused and everything has been handed back.
pub(crate) async fn claim(session: &Arc<Session>, ticket: &Ticket) -> Option<Claimed> {
    let hand_back = HandBack {
        job: ticket.reserved.job,
        reservation: ticket.reserved.reservation,
        worker: session.options.incarnation,
    };
    if session.is_draining() {
        // Nothing is claimed after the order to drain; another worker takes it at once.
        claim_refused(session, hand_back).await;
        return None;
    }
    let attempt = session.runtime.new_attempt_id();
    match authorize(session, ticket, attempt).await {
        Ok(Some((authorized, mark))) => {
            activate(session, ticket, Authority { attempt, authorized, mark }).await
        }
        Ok(None) => {
            claim_refused(session, hand_back).await;
            None
        }
        Err(fault) => {
            tracing::warn!(job = %ticket.reserved.job, error = %told(&fault), "cannot claim a job");
            // What was in the way is still there: the same job is not to be given to the same worker at once.
            if !session.is_draining() {
                session.runtime.clock.sleep(session.lease() / PAUSES_OF_A_LEASE).await;
            }
            claim_refused(session, hand_back).await;
            None
        }
    }
}

struct Authority {
    attempt: AttemptId,
    authorized: Authorized,
    mark: Mark,
}

#[doc(alias = "AuthorizeAttempt")]
async fn authorize(
    session: &Session,
    ticket: &Ticket,
    attempt: AttemptId,
) -> Result<Option<(Authorized, Mark)>, Fault> {
    let job = ticket.reserved.job;
    let mut checkpoint_revision = ticket.reserved.checkpoint_revision;
    for _ in 0..CHECKPOINT_TRIES {
        if checkpoint_revision > 0 {
            checkpoint_revision = verified_checkpoint(session, job).await?;
        }
        let request = AuthorizeAttempt {
            job,
            attempt,
            worker: session.options.incarnation,
            reservation: ticket.reserved.reservation,
            epoch: ticket.epoch,
            checkpoint_revision,
            judged: vec![Judged::coordination(ticket.mark)],
        };
        let sent = session.caller.send();
        let ask =
            || sent.of(session.rooms.durable.authorize_attempt(&sent.origin, slice::from_ref(&request)));
        let answer = session.until_one_answered(|| session.is_draining(), "claim a job", ask).await?;
        match answer.step {
            Step::Taken(authorized) => return Ok(Some((authorized, answer.mark))),
            // Whatever is there now has not been verified: any number but 0 makes the next round read it.
            Step::Refused(Guard::CheckpointChanged) => checkpoint_revision = u64::MAX,
            Step::Refused(guard) => {
                tracing::debug!(%job, %guard, "claim refused");
                return Ok(None);
            }
            Step::SetAside(reason) => {
                tracing::warn!(%job, %reason, "the job was set aside");
                return Ok(None);
            }
        }
    }
    Ok(None)
}

/// The revision of the job's checkpoint after it was verified; one that is bad is invalidated here, which
/// costs no attempt, and 0 is given.
#[doc(alias = "InvalidateCheckpoint")]
async fn verified_checkpoint(session: &Session, job: JobId) -> Result<u64, Fault> {
    let read = || session.rooms.durable.checkpoint(job);
    let Some(checkpoint) = session.until_answered(|| session.is_draining(), read).await? else {
        return Ok(0);
    };
    match verify(session, &checkpoint).await {
        Ok(()) => Ok(checkpoint.revision),
        Err(error) if error.is_bad_data() => {
            invalidate(session, job, checkpoint.revision, &error).await?;
            Ok(0)
        }
        Err(error) => Err(Fault::unreachable("verify a checkpoint", error)),
    }
}

/// Makes sure that a checkpoint is never used again.
pub(crate) async fn invalidate(
    session: &Session,
    job: JobId,
    checkpoint_revision: u64,
    error: &StageError,
) -> Result<(), Fault> {
    tracing::warn!(%job, checkpoint_revision, %error, "the checkpoint is bad and will not be used");
    let request = InvalidateCheckpoint { job, checkpoint_revision, reason: error.to_string() };
    let sent = session.caller.send();
    let ask =
        || sent.of(session.rooms.durable.invalidate_checkpoint(&sent.origin, slice::from_ref(&request)));
    session.until_one_answered(|| session.is_draining(), "invalidate a checkpoint", ask).await.map(drop)
}

async fn verify(session: &Session, checkpoint: &Checkpoint) -> Result<(), StageError> {
    let manifest = Manifest::decode(&read_document(session, &checkpoint.manifest).await?)?;
    let mut parts: Vec<Part> = manifest.parts().cloned().collect();
    if let Document::Stored { key, length, digest } = &checkpoint.state {
        parts.push(Part::stored(key, *length, *digest));
    }
    Ok(session.rooms.target.verify(&parts, Depth::UpTo(VERIFY_BYTES)).await?)
}

#[doc(alias = "ActivateAttempt")]
async fn activate(session: &Arc<Session>, ticket: &Ticket, authority: Authority) -> Option<Claimed> {
    let job = ticket.reserved.job;
    let request = ActivateAttempt {
        job,
        attempt: authority.attempt,
        token: authority.authorized.token,
        reservation: ticket.reserved.reservation,
        worker: session.options.incarnation,
        judged: vec![Judged::durable(authority.mark)],
    };
    let sent_at = session.runtime.clock.boottime();
    let sent = session.caller.send();
    let at = At { origin: sent.origin, epoch: ticket.epoch };
    let ask = || async {
        sent.of(session.rooms.coordination.activate_attempt(&at, slice::from_ref(&request))).await
    };
    let answer = session.until_one_answered(|| false, "activate an attempt", ask).await;
    session.held.remove_reservation(ticket.reserved.reservation);
    let guard = match answer.map(|answer| answer.step) {
        Ok(Step::Taken(lease)) => {
            return Some(Claimed {
                job,
                attempt: authority.attempt,
                token: authority.authorized.token,
                authorized: authority.authorized,
                mark: authority.mark,
                epoch: ticket.epoch,
                deadline: Session::deadline(sent_at, lease.lease_ms),
            });
        }
        Ok(Step::Refused(guard)) => guard.name(),
        Ok(Step::SetAside(_)) | Err(_) => "no answer",
    };
    activate_refused(session, ticket, &authority, guard).await;
    if let Some(companion) = &session.options.companion {
        companion.left(authority.attempt);
    }
    None
}

/// The attempt never starts; its own worker knows that and drives its reaping (protocol rule 2).
#[doc(alias = "ActivateRefused")]
async fn activate_refused(session: &Session, ticket: &Ticket, authority: &Authority, guard: &str) {
    let job = ticket.reserved.job;
    tracing::info!(%job, attempt = %authority.attempt, guard, "activation refused, giving the attempt up");
    let about = StageId { job, token: authority.authorized.token, attempt: authority.attempt };
    session.record(
        Action::ActivateRefused,
        Some(about),
        Detail::default(),
        vec![Judged::durable(authority.mark)],
    );
    let observe = ReapObserve {
        job,
        attempt: authority.attempt,
        worker: session.options.incarnation,
        claimed_epoch: ticket.epoch,
        by_holder: true,
    };
    for _ in 0..REAP_TRIES {
        let (sent, at) = session.send();
        let seen = sent.of(session.rooms.coordination.reap_observe(&at, &[observe])).await;
        if let Ok([Stamped { mark, step: Step::Taken(()) }]) = seen.as_deref() {
            let request = ReapLostAttempt {
                job,
                attempt: authority.attempt,
                token: authority.authorized.token,
                error: "the coordination store was lost, or dropped the reservation, before the attempt could start"
                    .to_owned(),
                chance: session.runtime.rng.next_u64(),
                judged: vec![Judged::coordination(*mark)],
            };
            let sent = session.caller.send();
            let ask =
                || sent.of(session.rooms.durable.reap_lost_attempt(&sent.origin, slice::from_ref(&request)));
            if session.until_answered(|| session.is_draining(), ask).await.is_ok() {
                let _ = session.rooms.coordination.nudge(&[job]).await;
            }
            return;
        }
        session.keeper_wanted.notify_one();
        session.runtime.clock.sleep(session.lease() / 20).await;
    }
}
