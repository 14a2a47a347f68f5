//! What running work can ask of its worker: progress, checkpoint, whether to stop.

use std::sync::Arc;
use std::time::Duration;

use coordination::ReportProgress;
use durable::{Document, PersistCheckpoint};
use protocol::{
    Action, AttemptId, Detail, Fault, Guard, JobId, Judged, Mark, Step, Token, UserProgress, Violation, job,
    limit,
};
use target::{Part, StageId};
use thiserror::Error;
use tokio::sync::{Mutex, watch};

use crate::held::raise;
use crate::patience::only;
use crate::record::About;
use crate::session::Session;
use crate::stage::{OutputStage, StageError};

/// Whether and why to stop, in rising gravity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Go on.
    None,
    /// The worker drains: checkpoint and end soon; the job goes on elsewhere.
    Drain,
    /// It ran longer than its `--timeout`.
    TimedOut,
    /// The job is being cancelled: nothing of it will be published.
    Cancel,
    /// The attempt may no longer act: end at once.
    LeaseLost,
}

/// Why a checkpoint was not made. An earlier one still stands.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// The attempt lost its authority, or its job is being cancelled.
    #[error("the attempt may not checkpoint any more ({0})")]
    Refused(Guard),
    /// Output or state could not be sealed.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Progress is over a limit.
    #[error(transparent)]
    Progress(#[from] Violation),
    /// The durable room's data is bad.
    #[error(transparent)]
    Store(#[from] Fault),
}

/// The mutable part of an attempt's checkpoints.
pub(crate) struct Sealing {
    pub(crate) output: OutputStage,
    /// The spec's progress so far.
    progress: u64,
    /// The attempt executes no more: nothing is sealed for a checkpoint from here on.
    ended: bool,
    /// Parts that the last acknowledged checkpoint refers to and this attempt wrote.
    own_parts: std::collections::BTreeSet<String>,
    /// The attempt has ended and its folders go away: what is in them is no checkpoint any more.
    closed: bool,
}

/// One attempt, as its handler or program sees it.
pub struct AttemptControl {
    pub(crate) session: Arc<Session>,
    job: JobId,
    attempt: AttemptId,
    token: Token,
    mark: Mark,
    stop: watch::Sender<Stop>,
    progress: watch::Sender<Option<UserProgress>>,
    pub(crate) sealing: Mutex<Sealing>,
}

/// What an attempt is, for its control.
pub(crate) struct AttemptIdentity {
    pub(crate) stage: StageId,
    pub(crate) mark: Mark,
    /// The spec's progress it begins with.
    pub(crate) progress: u64,
}

impl AttemptControl {
    pub(crate) fn new(
        session: Arc<Session>,
        identity: &AttemptIdentity,
        stop: watch::Sender<Stop>,
        output: OutputStage,
    ) -> Arc<Self> {
        Arc::new(Self {
            session,
            job: identity.stage.job,
            attempt: identity.stage.attempt,
            token: identity.stage.token,
            mark: identity.mark,
            stop,
            progress: watch::channel(None).0,
            sealing: Mutex::new(Sealing {
                output,
                progress: identity.progress,
                ended: false,
                own_parts: Default::default(),
                closed: false,
            }),
        })
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> JobId {
        self.job
    }

    /// The attempt's fencing token.
    #[must_use]
    pub fn token(&self) -> Token {
        self.token
    }

    /// The attempt's opaque id.
    #[must_use]
    pub fn attempt(&self) -> AttemptId {
        self.attempt
    }

    pub(crate) fn about(&self) -> About {
        About { job: self.job, token: self.token, attempt: self.attempt }
    }

    /// Whether and why to stop, now and as it changes.
    #[must_use]
    pub fn stop(&self) -> watch::Receiver<Stop> {
        self.stop.subscribe()
    }

    pub(crate) fn raise_stop(&self, stop: Stop) {
        raise(&self.stop, stop);
    }

    /// Shows progress. Merged to a few reports a second; the last one is always shown.
    ///
    /// # Errors
    /// When the message is too long or has a NUL.
    pub fn show_progress(&self, progress: UserProgress) -> Result<(), Violation> {
        check_progress(&progress)?;
        self.progress.send_replace(Some(progress));
        Ok(())
    }

    /// The progress shown last; at first that of the checkpoint resumed from.
    pub(crate) fn shown_progress(&self) -> Option<UserProgress> {
        self.progress.borrow().clone()
    }

    /// Makes the state and the output so far durable; returns after the commit.
    ///
    /// # Errors
    /// When it was not made; the one before it still stands.
    #[doc(alias = "PersistCheckpoint")]
    pub async fn checkpoint(&self, user: UserProgress, state: Vec<u8>) -> Result<(), CheckpointError> {
        check_progress(&user)?;
        let bytes = u64::try_from(state.len()).unwrap_or(u64::MAX);
        if bytes > limit::STATE_BYTES {
            return Err(StageError::StateTooLarge { bytes, limit: limit::STATE_BYTES }.into());
        }
        let mut sealing = self.sealing.lock().await;
        if sealing.closed || *self.stop.borrow() == Stop::LeaseLost {
            return Err(CheckpointError::Refused(Guard::Authority));
        }
        let manifest = sealing.output.seal(false).await?;
        let mut parts: Vec<Part> = manifest.parts().cloned().collect();
        let manifest =
            document(&mut sealing.output, manifest.encode().map_err(StageError::from)?, &mut parts).await?;
        let state = document(&mut sealing.output, state, &mut parts).await?;
        let stage = self.stage();
        let own: std::collections::BTreeSet<String> =
            parts.into_iter().map(|part| part.key).filter(|key| key.starts_with(&stage.prefix())).collect();
        if !own.is_empty() {
            self.session.rooms.target.settle(&stage).await.map_err(StageError::from)?;
        }
        let progress = sealing.progress + 1;
        let detail = Detail { progress: Some(progress), ..Detail::default() };
        self.session.record(Action::AdvanceAttempt, Some(self.about()), detail, Vec::new());
        self.persist(PersistCheckpoint {
            job: self.job,
            attempt: self.attempt,
            token: self.token,
            progress,
            user: user.clone(),
            state,
            manifest,
        })
        .await?;
        sealing.progress = progress;
        let superseded = std::mem::replace(&mut sealing.own_parts, own);
        let superseded = superseded.difference(&sealing.own_parts).cloned().collect();
        // What cannot be deleted now goes with the sweep.
        let _ = self.session.rooms.target.discard(&superseded).await;
        self.progress.send_replace(Some(user));
        Ok(())
    }

    /// Waits for a checkpoint under way and lets no other begin. A program's request may outlive it, and
    /// while authority lasts a checkpoint of folders that are being removed would be accepted.
    pub(crate) async fn close(&self) {
        self.sealing.lock().await.closed = true;
    }

    /// Waits for a checkpoint under way, which a program that was killed had asked for, and takes no other: what is
    /// written after an attempt's end would outlive the sweep of its stage.
    pub(crate) async fn end_checkpoints(&self) {
        self.sealing.lock().await.ended = true;
    }

    fn stage(&self) -> StageId {
        StageId { job: self.job, token: self.token, attempt: self.attempt }
    }

    async fn persist(&self, request: PersistCheckpoint) -> Result<(), CheckpointError> {
        let sent = self.session.caller.send();
        let answer = self
            .session
            .until_answered(
                || *self.stop.borrow() == Stop::LeaseLost,
                || async {
                    let batch = std::slice::from_ref(&request);
                    only(
                        self.session.rooms.durable.persist_checkpoint(&sent.origin, batch).await?,
                        "persist a checkpoint",
                    )
                },
            )
            .await?;
        match answer.step {
            Step::Taken(_) => Ok(()),
            Step::Refused(guard) => {
                match guard {
                    Guard::Authority => self.raise_stop(Stop::LeaseLost),
                    Guard::PhaseRunning => self.raise_stop(Stop::Cancel),
                    _ => {}
                }
                Err(CheckpointError::Refused(guard))
            }
            Step::SetAside(reason) => {
                Err(CheckpointError::Store(Fault::corrupt("persist a checkpoint", reason.0)))
            }
        }
    }

    /// Sends progress to coordination, four times a second at most, until the attempt ends.
    #[doc(alias = "ReportProgress")]
    pub(crate) async fn report_progress(&self) {
        let mut changed = self.progress.subscribe();
        changed.mark_changed();
        while changed.changed().await.is_ok() {
            let Some(progress) = changed.borrow_and_update().clone() else { continue };
            let report = ReportProgress {
                job: self.job,
                attempt: self.attempt,
                worker: self.session.options.incarnation,
                progress,
                judged: vec![Judged::durable(self.mark)],
            };
            let (_sent, at) = self.session.send();
            // For display only: a report that is lost is followed by the next.
            let _ = self.session.rooms.coordination.report_progress(&at, &[report]).await;
            self.session.runtime.clock.sleep(Duration::from_millis(250)).await;
        }
    }
}

/// A document for a row: inline when small, else sealed on the target.
pub(crate) async fn document(
    output: &mut OutputStage,
    bytes: Vec<u8>,
    parts: &mut Vec<Part>,
) -> Result<Document, StageError> {
    if u64::try_from(bytes.len()).is_ok_and(|bytes| bytes <= limit::INLINE_BYTES) {
        return Ok(Document::Inline(bytes));
    }
    let part = output.seal_bytes(bytes).await?;
    parts.push(part.clone());
    Ok(Document::Stored { key: part.key, length: part.length, digest: part.digest.0 })
}

fn check_progress(progress: &UserProgress) -> Result<(), Violation> {
    let Some(message) = &progress.message else { return Ok(()) };
    job::check_size("progress message", message.len(), limit::PROGRESS_MESSAGE_BYTES)?;
    job::check_text("progress message", message)
}
