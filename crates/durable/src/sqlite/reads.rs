//! The port's fresh reads: what agents and workers decide on.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, JobId, Mark, Phase, Position, Priority, Token, Window};
use rusqlite::{Row, named_params};

use super::section::sql;
use super::transaction::{Params, Transaction, mark};
use super::trouble::Trouble;
use super::{SqliteReads, SqliteRoom, actions, column};
use crate::form::{self, limit_column};
use crate::{
    AttemptOf, AuthorityRead, Checkpoint, DispatchRead, Dispatchable, Document, DurableReads, NextDue,
    PhaseRead, PoolRow, RunningAttempt, ScheduleRetry, SweepStage,
};

fn window(row: &Row<'_>) -> Result<Window, Trouble> {
    Ok(Window { queue: row.get("queue")?, kind: row.get("kind")?, priority: Priority(row.get("priority")?) })
}

fn dispatchable(row: &Row<'_>) -> Result<Dispatchable, Trouble> {
    Ok(Dispatchable {
        job: JobId::from_bytes(column::id(row, "job")?),
        window: window(row)?,
        position: Position { due: column::time(row, "due")?, sequence: column::count(row, "sequence")? },
        checkpoint_revision: column::count(row, "checkpoint_revision")?,
        mark: mark(column::count(row, "revision")?),
    })
}

fn running(
    transaction: &Transaction<'_>,
    after: Option<AttemptId>,
    limit: usize,
) -> Result<Vec<RunningAttempt>, Trouble> {
    let after = after.map_or_else(Vec::new, |after| after.to_bytes().to_vec());
    let params = named_params! {":after": after, ":limit": limit_column(limit)};
    transaction.rows(sql!("running"), params, |row| {
        Ok(RunningAttempt {
            job: JobId::from_bytes(column::id(row, "job")?),
            attempt: AttemptId::from_bytes(column::id(row, "attempt")?),
            token: Token(row.get("token")?),
            worker: Incarnation::from_bytes(column::id(row, "worker")?),
            epoch: column::count(row, "epoch")?,
            phase: column::phase(row, "phase")?,
            cancel_requested_at: column::maybe_time(row, "cancel_requested_at")?,
            now: transaction.now,
            mark: mark(column::count(row, "revision")?),
        })
    })
}

/// Where a job stands: its phase, the attempt with authority, its mark.
fn standing(
    transaction: &Transaction<'_>,
    job: JobId,
) -> Result<Option<(Phase, Option<AttemptId>, Mark)>, Trouble> {
    transaction.row(sql!("phases"), named_params! {":job": job.to_bytes()}, |row| {
        Ok((
            column::phase(row, "phase")?,
            column::maybe_id(row, "attempt")?.map(AttemptId::from_bytes),
            mark(column::count(row, "revision")?),
        ))
    })
}

fn stages_to_sweep(transaction: &Transaction<'_>, limit: usize) -> Result<Vec<SweepStage>, Trouble> {
    let limit = limit_column(limit);
    transaction.rows(sql!("stages_to_sweep", "stages"), named_params! {":limit": limit}, |row| {
        let job = JobId::from_bytes(column::id(row, "job")?);
        Ok(SweepStage {
            job,
            attempt: AttemptId::from_bytes(column::id(row, "attempt")?),
            token: Token(row.get("token")?),
            ended_ms_ago: transaction.now.since_ms(column::time(row, "ended_at")?),
            stopped: row.get("stopped")?,
            committed: row.get("committed")?,
            terminal: row.get("terminal")?,
            keep: keep(transaction, job)?,
        })
    })
}

/// Manifests, and states that lie on the target. An inline state refers to nothing.
fn keep(transaction: &Transaction<'_>, job: JobId) -> Result<Vec<Document>, Trouble> {
    let params = named_params! {":job": job.to_bytes()};
    let found = transaction.rows(sql!("stages_to_sweep", "keep"), params, |row| {
        Ok((row.get::<_, bool>("manifest")?, column::document_column(row, "document")?))
    })?;
    let mut kept = Vec::new();
    for (manifest, document) in found {
        form::keep(&mut kept, manifest, document);
    }
    Ok(kept)
}

#[async_trait]
impl DurableReads for SqliteReads {
    async fn pool(&self) -> Result<PoolRow, Fault> {
        self.fresh.read("read the pool", actions::read_pool).await
    }

    async fn waiting_windows(&self) -> Result<Vec<Window>, Fault> {
        let work = |transaction: &Transaction<'_>| {
            transaction.rows(
                sql!("windows" + "waiting_windows"),
                named_params! {":now": transaction.now.0},
                window,
            )
        };
        self.fresh.read("read the waiting windows", work).await
    }

    #[doc(alias = "DispatchRead")]
    async fn dispatch_read(&self, read: &DispatchRead) -> Result<Vec<Dispatchable>, Fault> {
        let read = read.clone();
        let work = move |transaction: &Transaction<'_>| {
            let params: Params<'_> = named_params! {
                ":queue": read.window.queue,
                ":kind": read.window.kind,
                ":priority": read.window.priority.0,
                ":due": read.from.due.0,
                ":sequence": column::at_most(read.from.sequence),
                ":now": transaction.now.0,
                ":limit": limit_column(read.limit),
            };
            transaction.rows(sql!("dispatch_read", "window"), params, dispatchable)
        };
        self.fresh.read("read a window of the outbox", work).await
    }

    async fn dispatch_read_jobs(&self, jobs: &[JobId]) -> Result<Vec<Dispatchable>, Fault> {
        let jobs = jobs.to_vec();
        let work = move |transaction: &Transaction<'_>| {
            let mut found = Vec::with_capacity(jobs.len());
            for job in jobs {
                let params = named_params! {":job": job.to_bytes(), ":now": transaction.now.0};
                found.extend(transaction.row(sql!("dispatch_read", "job"), params, dispatchable)?);
            }
            Ok(found)
        };
        self.fresh.read("read jobs of the outbox", work).await
    }

    async fn due_retries(&self, limit: usize) -> Result<Vec<ScheduleRetry>, Fault> {
        let work = move |transaction: &Transaction<'_>| {
            let params = named_params! {":now": transaction.now.0, ":limit": limit_column(limit)};
            transaction.rows(sql!("due_retries"), params, |row| {
                Ok(ScheduleRetry { job: JobId::from_bytes(column::id(row, "job")?) })
            })
        };
        self.fresh.read("read the retries that are due", work).await
    }

    async fn next_due(&self) -> Result<NextDue, Fault> {
        let work = |transaction: &Transaction<'_>| {
            let params = named_params! {":now": transaction.now.0};
            let at = transaction.row(sql!("next_due"), params, |row| column::maybe_time(row, "at"))?;
            Ok(NextDue { now: transaction.now, at: at.flatten() })
        };
        self.fresh.read("read what falls due next", work).await
    }

    async fn running(&self, after: Option<AttemptId>, limit: usize) -> Result<Vec<RunningAttempt>, Fault> {
        self.fresh
            .read("read the running attempts", move |transaction| running(transaction, after, limit))
            .await
    }

    async fn authority(&self, attempts: &[AttemptOf]) -> Result<Vec<AuthorityRead>, Fault> {
        let attempts = attempts.to_vec();
        let work = move |transaction: &Transaction<'_>| {
            let read = |asked: &AttemptOf| {
                Ok(match standing(transaction, asked.job)? {
                    Some((phase, attempt, mark)) => {
                        AuthorityRead { holds: attempt == Some(asked.attempt), phase: Some(phase), mark }
                    }
                    None => AuthorityRead { holds: false, phase: None, mark: Mark::default() },
                })
            };
            attempts.iter().map(read).collect()
        };
        self.fresh.read("read the authority of attempts", work).await
    }

    async fn phases(&self, jobs: &[JobId]) -> Result<Vec<Option<PhaseRead>>, Fault> {
        let jobs = jobs.to_vec();
        let work = move |transaction: &Transaction<'_>| {
            let read = |job: &JobId| {
                let standing = standing(transaction, *job)?;
                Ok(standing.map(|(phase, attempt, mark)| PhaseRead { phase, attempt, mark }))
            };
            jobs.iter().map(read).collect()
        };
        self.fresh.read("read the phases of jobs", work).await
    }

    async fn checkpoint(&self, job: JobId) -> Result<Option<Checkpoint>, Fault> {
        let work = move |transaction: &Transaction<'_>| {
            let params = named_params! {":job": job.to_bytes()};
            transaction.row(sql!("checkpoint", "valid"), params, column::checkpoint)
        };
        self.fresh.read("read a checkpoint", work).await
    }

    async fn stages_to_sweep(&self, limit: usize) -> Result<Vec<SweepStage>, Fault> {
        self.fresh
            .read("read the stages to sweep", move |transaction| stages_to_sweep(transaction, limit))
            .await
    }
}

#[async_trait]
impl DurableReads for SqliteRoom {
    async fn pool(&self) -> Result<PoolRow, Fault> {
        self.reads.pool().await
    }

    async fn waiting_windows(&self) -> Result<Vec<Window>, Fault> {
        self.reads.waiting_windows().await
    }

    async fn dispatch_read(&self, read: &DispatchRead) -> Result<Vec<Dispatchable>, Fault> {
        self.reads.dispatch_read(read).await
    }

    async fn dispatch_read_jobs(&self, jobs: &[JobId]) -> Result<Vec<Dispatchable>, Fault> {
        self.reads.dispatch_read_jobs(jobs).await
    }

    async fn due_retries(&self, limit: usize) -> Result<Vec<ScheduleRetry>, Fault> {
        self.reads.due_retries(limit).await
    }

    async fn next_due(&self) -> Result<NextDue, Fault> {
        self.reads.next_due().await
    }

    async fn running(&self, after: Option<AttemptId>, limit: usize) -> Result<Vec<RunningAttempt>, Fault> {
        self.reads.running(after, limit).await
    }

    async fn authority(&self, attempts: &[AttemptOf]) -> Result<Vec<AuthorityRead>, Fault> {
        self.reads.authority(attempts).await
    }

    async fn phases(&self, jobs: &[JobId]) -> Result<Vec<Option<PhaseRead>>, Fault> {
        self.reads.phases(jobs).await
    }

    async fn checkpoint(&self, job: JobId) -> Result<Option<Checkpoint>, Fault> {
        self.reads.checkpoint(job).await
    }

    async fn stages_to_sweep(&self, limit: usize) -> Result<Vec<SweepStage>, Fault> {
        self.reads.stages_to_sweep(limit).await
    }
}
