//! What running work can ask of its worker: progress, checkpoint, whether to stop.

use std::collections::BTreeSet;
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
    own_parts: BTreeSet<String>,
}

impl Sealing {
    /// Whether a checkpoint may still be made.
    fn may_go_on(&self, stop: Stop) -> Result<(), CheckpointError> {
        if self.ended || stop == Stop::LeaseLost {
            return Err(CheckpointError::Refused(Guard::Authority));
        }
        Ok(())
    }
}

/// One attempt, as its handler or program sees it.
pub struct AttemptControl {
    pub(crate) session: Arc<Session>,
    stage: StageId,
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
    /// What the checkpoint resumed from showed.
    pub(crate) shown: Option<UserProgress>,
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
            stage: identity.stage,
            mark: identity.mark,
            stop,
            progress: watch::channel(identity.shown.clone()).0,
            sealing: Mutex::new(Sealing {
                output,
                progress: identity.progress,
                ended: false,
                own_parts: BTreeSet::new(),
            }),
        })
    }

    /// The job.
    #[must_use]
    pub fn job(&self) -> JobId {
        self.stage.job
    }

    /// The attempt's fencing token.
    #[must_use]
    pub fn token(&self) -> Token {
        self.stage.token
    }

    /// The attempt's opaque id.
    #[must_use]
    pub fn attempt(&self) -> AttemptId {
        self.stage.attempt
    }

    pub(crate) fn stage(&self) -> StageId {
        self.stage
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
        sealing.may_go_on(*self.stop.borrow())?;
        let manifest = sealing.output.seal(false).await?;
        let mut parts: Vec<Part> = manifest.parts().cloned().collect();
        let manifest =
            document(&mut sealing.output, manifest.encode().map_err(StageError::from)?, &mut parts).await?;
        let state = document(&mut sealing.output, state, &mut parts).await?;
        let own: BTreeSet<String> = parts
            .into_iter()
            .map(|part| part.key)
            .filter(|key| key.starts_with(&self.stage.prefix()))
            .collect();
        if !own.is_empty() {
            self.session.rooms.target.settle(&self.stage).await.map_err(StageError::from)?;
        }
        let progress = sealing.progress + 1;
        let detail = Detail { progress: Some(progress), ..Detail::default() };
        self.session.record(Action::AdvanceAttempt, Some(self.stage), detail, Vec::new());
        self.persist(PersistCheckpoint {
            job: self.stage.job,
            attempt: self.stage.attempt,
            token: self.stage.token,
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

    /// Waits for a checkpoint under way, which a program that was killed had asked for, and takes no other: what
    /// is written after an attempt's end would outlive the sweep of its stage, and while authority lasts a
    /// checkpoint of folders that are being removed would be accepted.
    pub(crate) async fn end_checkpoints(&self) {
        self.sealing.lock().await.ended = true;
    }

    async fn persist(&self, request: PersistCheckpoint) -> Result<(), CheckpointError> {
        let sent = self.session.caller.send();
        let room = &self.session.rooms.durable;
        let ask = || sent.of(room.persist_checkpoint(&sent.origin, std::slice::from_ref(&request)));
        let lost = || *self.stop.borrow() == Stop::LeaseLost;
        let answer = self.session.until_one_answered(lost, "persist a checkpoint", ask).await?;
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
                job: self.stage.job,
                attempt: self.stage.attempt,
                worker: self.session.options.incarnation,
                progress,
                judged: vec![Judged::durable(self.mark)],
            };
            let (sent, at) = self.session.send();
            // For display only: a report that is lost is followed by the next.
            let _ = sent.of(self.session.rooms.coordination.report_progress(&at, &[report])).await;
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

#[cfg(test)]
mod tests {
    use super::*;
    use target::file::FileTarget;

    #[test]
    fn no_checkpoint_is_made_of_an_attempt_that_has_ended_or_lost_its_lease() {
        let folder = tempfile::tempdir().unwrap();
        let stage = StageId { job: JobId(1), token: Token(1), attempt: AttemptId(1) };
        let target = Arc::new(FileTarget::new(folder.path()));
        let output =
            OutputStage::new(target, Arc::new(runtime::TokioSpawner), stage, folder.path().join("output"));
        let mut sealing = Sealing { output, progress: 0, ended: false, own_parts: BTreeSet::new() };
        for stop in [Stop::None, Stop::Drain, Stop::TimedOut, Stop::Cancel] {
            assert!(sealing.may_go_on(stop).is_ok(), "{stop:?}");
        }
        assert!(matches!(
            sealing.may_go_on(Stop::LeaseLost),
            Err(CheckpointError::Refused(Guard::Authority))
        ));
        sealing.ended = true;
        assert!(matches!(sealing.may_go_on(Stop::None), Err(CheckpointError::Refused(Guard::Authority))));
    }
}
