//! `AuthorizeAttempt` and `PersistCheckpoint`: what a worker asks while it has, or gets, authority.

use protocol::machine::{Attempt, Move};
use protocol::{Guard, Stamped, UserProgress, job, limit};

use super::job::{AttemptNote, JOB, JobRow, Stored, WORKER};
use super::{Shelf, UNREADABLE, aside, mark, storable};
use crate::{AuthorizeAttempt, Authorized, Checkpoint, Document, PersistCheckpoint, Persisted};

impl Shelf {
    pub(super) fn authorize_attempt(&mut self, request: &AuthorizeAttempt) -> Stamped<Authorized> {
        let used = self.jobs.values().any(|row| row.authority().is_some_and(|(id, _)| id == request.attempt));
        let now = self.now;
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::JobExists);
        };
        if let Some((id, note)) = row.authority()
            && id == request.attempt
        {
            if row.unreadable {
                return aside(UNREADABLE);
            }
            return Stamped::taken(mark(note.revision), authorized(row, note.inherited));
        }
        if let Err(guard) = claimable(row, request, used) {
            return row.refuse(guard);
        }
        if row.unreadable {
            let reason = UNREADABLE.to_owned();
            row.offer.set_aside = Some(reason.clone());
            return Stamped::set_aside(mark(row.revision), reason);
        }
        let revision = row.take(Move::AuthorizeAttempt(JOB, WORKER));
        row.attempts.push(AttemptNote {
            attempt: request.attempt,
            worker: request.worker,
            epoch: request.epoch,
            started_at: now,
            revision,
            inherited: request.checkpoint_revision,
            cancel_requested_at: None,
            end: None,
        });
        Stamped::taken(mark(revision), authorized(row, request.checkpoint_revision))
    }

    pub(super) fn persist_checkpoint(&mut self, request: &PersistCheckpoint) -> Stamped<Persisted> {
        if let Some(reason) = refusal(request) {
            return aside(reason);
        }
        let now = self.now;
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::Authority);
        };
        let repeated = row.checkpoints.iter().find(|(_, stored)| {
            (stored.checkpoint.attempt, stored.checkpoint.progress) == (request.attempt, request.progress)
        });
        if let Some((revision, _)) = repeated {
            return Stamped::taken(mark(*revision), Persisted { checkpoint_revision: *revision });
        }
        let Some(of) = row.named(request.attempt, request.token) else {
            return row.refuse(Guard::Authority);
        };
        if let Err(guard) = advance(row, of, request.progress) {
            return row.refuse(guard);
        }
        let revision = row.take(Move::PersistCheckpoint(of));
        store(row, of, checkpoint(request, revision, now));
        Stamped::taken(mark(revision), Persisted { checkpoint_revision: revision })
    }
}

/// The guards of a claim, in the order of the port.
fn claimable(row: &JobRow, request: &AuthorizeAttempt, used: bool) -> Result<(), Guard> {
    let ended = |note: &AttemptNote| note.attempt == request.attempt && note.end.is_some();
    if row.attempts.iter().any(ended) {
        return Err(Guard::Lost);
    }
    if used {
        return Err(Guard::AttemptUnused);
    }
    if row.variables().dispatch_needed && row.offer.set_aside.is_some() {
        return Err(Guard::NotSetAside);
    }
    row.guard(Move::AuthorizeAttempt(JOB, WORKER))?;
    if row.valid_revision() == request.checkpoint_revision { Ok(()) } else { Err(Guard::CheckpointChanged) }
}

fn authorized(row: &JobRow, inherited: u64) -> Authorized {
    Authorized {
        token: row.token(),
        spec: row.spec.clone(),
        checkpoint: row.checkpoints.get(&inherited).map(|stored| stored.checkpoint.clone()),
    }
}

/// Why the checkpoint cannot be kept in a row at all.
fn refusal(request: &PersistCheckpoint) -> Option<String> {
    for (field, document) in [("state", &request.state), ("manifest", &request.manifest)] {
        let (bytes, limit) = match document {
            Document::Inline(bytes) => (bytes.len(), limit::INLINE_BYTES),
            Document::Stored { length, .. } if field == "state" => {
                (usize::try_from(*length).unwrap_or(usize::MAX), limit::STATE_BYTES)
            }
            Document::Stored { .. } => continue,
        };
        if let Err(violation) = job::check_size(field, bytes, limit) {
            return Some(violation.to_string());
        }
    }
    let counts = request.progress < u64::from(u16::MAX);
    (!counts).then(|| format!("progress is {}; allowed here is at most 65534", request.progress))
}

/// The attempt has sealed so much (`AdvanceAttempt`), if the room's guards and the port let it say so. The port's
/// own: the attempt's count only grows, also where the stored checkpoint is another one, or none.
fn advance(row: &mut JobRow, of: Attempt, progress: u64) -> Result<(), Guard> {
    let before = row.progress(of);
    row.knowing(of, |attempt| attempt.attempt_progress = u16::try_from(progress).unwrap_or(u16::MAX));
    let allowed = row.guard(Move::PersistCheckpoint(of)).and(if progress > before {
        Ok(())
    } else {
        Err(Guard::CheckpointAdvances)
    });
    if allowed.is_err() {
        row.knowing(of, |attempt| attempt.attempt_progress = u16::try_from(before).unwrap_or(u16::MAX));
    }
    allowed
}

fn checkpoint(request: &PersistCheckpoint, revision: u64, at: protocol::Timestamp) -> Checkpoint {
    let bytes = usize::try_from(limit::PROGRESS_MESSAGE_BYTES).unwrap_or(usize::MAX);
    let message = request.user.message.as_ref().map(|text| storable(text, bytes));
    Checkpoint {
        revision,
        attempt: request.attempt,
        token: request.token,
        progress: request.progress,
        user: UserProgress { message, ..request.user.clone() },
        state: request.state.clone(),
        manifest: request.manifest.clone(),
        at,
    }
}

/// Keeps the new checkpoint and the one that the attempt began with.
fn store(row: &mut JobRow, of: Attempt, checkpoint: Checkpoint) {
    let (new, inherited) = (checkpoint.revision, row.note(of).inherited);
    row.losses = 0;
    row.user = Some(checkpoint.user.clone());
    row.checkpoint_revision = new;
    row.checkpoints.insert(new, Stored { checkpoint, invalidated: None });
    row.checkpoints.retain(|revision, _| *revision == new || *revision == inherited);
}
