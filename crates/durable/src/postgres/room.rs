//! The port over the desk: each action hands its batch over.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, JobId, JobSpec, Origin, Stamped, TargetId};
use tokio_postgres::Row;

use super::PostgresRoom;
use super::actions::{
    CancelEnds, Cancels, Checkpoints, Claim, Claims, Failures, Invalidations, Losses, Repeat, Repeats,
    Retries, Submissions, Successes, Sweeps,
};
use super::column::{self, get};
use super::params::Params;
use super::trouble::Trouble;
use crate::{
    AcceptFailure, AcceptSuccess, Answer, AuthorizeAttempt, Authorized, CancelRequested, Checkpoint,
    Configure, Durable, Ended, FinalizeCancel, InvalidateCheckpoint, Invalidated, PersistCheckpoint,
    Persisted, PoolRow, RaiseEpoch, ReapLostAttempt, RequestCancel, Retried, Retry, ScheduleRetry, Scheduled,
    StageSwept, Submit, Submitted, form,
};

/// Jobs and revisions in one read, at most: each brings up to a mebibyte.
const READ_ROWS: usize = 64;
/// Rows of ended jobs' counts that are worth adding up.
const COUNTS: i64 = 1_000;

type Gives = Result<(JobSpec, Option<Checkpoint>), String>;

impl PostgresRoom {
    /// What jobs ask for, and their checkpoints of these revisions; or why that cannot be given. Both are written once,
    /// so what is read stays true.
    async fn asked(&self, doing: &str, of: &[(JobId, u64, AttemptId)]) -> Result<Vec<Gives>, Fault> {
        let mut found = Vec::with_capacity(of.len());
        for part in of.chunks(READ_ROWS) {
            let params = Params::new()
                .ids(part.iter().map(|(job, ..)| job.to_bytes()))
                .bigs(part.iter().map(|(_, revision, _)| form::at_most(*revision)))
                .ids(part.iter().map(|(.., attempt)| attempt.to_bytes()));
            let rows = self.desk.sessions.rows(&self.desk.statements.asked, &params).await;
            let rows = rows.map_err(|trouble| trouble.of_a_read(self.desk.sessions.doing(doing)))?;
            found.extend(rows.iter().map(gives));
        }
        Ok(found)
    }
}

fn gives(row: &Row) -> Gives {
    let in_words = |trouble: Trouble| trouble.to_string();
    let spec = form::spec(get(row, "spec").map_err(in_words)?)?;
    let meant = column::count(row, "meant").map_err(in_words)?;
    if meant == 0 {
        return Ok((spec, None));
    }
    match column::maybe_count(row, "revision").map_err(in_words)? {
        None => Err(format!("the checkpoint of revision {meant} is not in the store")),
        Some(_) => match column::checkpoint(row) {
            Ok(checkpoint) => Ok((spec, Some(checkpoint))),
            Err(trouble) => Err(format!("the checkpoint cannot be given: {trouble}")),
        },
    }
}

#[async_trait]
impl Durable for PostgresRoom {
    async fn submit(&self, origin: &Origin, batch: &[Submit]) -> Answer<Submitted> {
        self.desk.batch(Submissions, origin, batch).await
    }

    async fn authorize_attempt(&self, origin: &Origin, batch: &[AuthorizeAttempt]) -> Answer<Authorized> {
        let of: Vec<_> =
            batch.iter().map(|request| (request.job, request.checkpoint_revision, request.attempt)).collect();
        let gives = self.asked("claim attempts", &of).await?;
        let claims = batch.iter().cloned().zip(gives).map(|(request, gives)| Claim { request, gives });
        self.desk.batch(Claims, origin, &claims.collect::<Vec<_>>()).await
    }

    async fn persist_checkpoint(&self, origin: &Origin, batch: &[PersistCheckpoint]) -> Answer<Persisted> {
        self.desk.batch(Checkpoints, origin, batch).await
    }

    async fn accept_success(&self, origin: &Origin, batch: &[AcceptSuccess]) -> Answer<Ended> {
        self.desk.batch(Successes, origin, batch).await
    }

    async fn accept_failure(&self, origin: &Origin, batch: &[AcceptFailure]) -> Answer<Ended> {
        self.desk.batch(Failures, origin, batch).await
    }

    async fn reap_lost_attempt(&self, origin: &Origin, batch: &[ReapLostAttempt]) -> Answer<Ended> {
        self.desk.batch(Losses, origin, batch).await
    }

    async fn schedule_retry(&self, origin: &Origin, batch: &[ScheduleRetry]) -> Answer<Scheduled> {
        self.desk.batch(Retries, origin, batch).await
    }

    async fn request_cancel(&self, origin: &Origin, batch: &[RequestCancel]) -> Answer<CancelRequested> {
        self.desk.batch(Cancels, origin, batch).await
    }

    async fn finalize_cancel(&self, origin: &Origin, batch: &[FinalizeCancel]) -> Answer<Ended> {
        self.desk.batch(CancelEnds, origin, batch).await
    }

    async fn invalidate_checkpoint(
        &self,
        origin: &Origin,
        batch: &[InvalidateCheckpoint],
    ) -> Answer<Invalidated> {
        self.desk.batch(Invalidations, origin, batch).await
    }

    async fn retry(&self, origin: &Origin, batch: &[Retry]) -> Answer<Retried> {
        let of: Vec<_> = batch.iter().map(|request| (request.job, 0, AttemptId(0))).collect();
        let gives = self.asked("retry jobs", &of).await?;
        let repeats = batch
            .iter()
            .zip(gives)
            .map(|(request, gives)| Repeat { request: *request, asked: gives.map(|(spec, _)| spec) });
        self.desk.batch(Repeats, origin, &repeats.collect::<Vec<_>>()).await
    }

    async fn stages_swept(&self, origin: &Origin, batch: &[StageSwept]) -> Result<(), Fault> {
        self.desk.batch(Sweeps, origin, batch).await?;
        // Sweeps follow ends as closely as counts do; what is not added up now is another time.
        let params = Params::new().big(COUNTS);
        if let Err(trouble) = self.desk.sessions.rows(&self.desk.statements.fold_counts, &params).await {
            tracing::debug!(%trouble, "counts of ended jobs were not added up");
        }
        Ok(())
    }

    async fn raise_epoch(&self, origin: &Origin, change: &RaiseEpoch) -> Result<Stamped<PoolRow>, Fault> {
        self.desk.raise_epoch(origin, change).await
    }

    async fn open_epoch(&self, _: &Origin, epoch: u64) -> Result<Stamped<PoolRow>, Fault> {
        self.desk.open_epoch(epoch).await
    }

    async fn configure(&self, _: &Origin, change: &Configure) -> Result<PoolRow, Fault> {
        self.desk.configure(change).await
    }

    async fn adopt_target(&self, _: &Origin, target: TargetId) -> Result<TargetId, Fault> {
        self.desk.adopt_target(target).await
    }
}
