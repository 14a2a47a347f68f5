//! The port's fresh reads: what agents and workers decide on. Each is one statement, so one snapshot, taken by the
//! server that writes: it sees every write that was answered before.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, JobId, Mark, Priority, Window};
use tokio_postgres::Row;

use super::PostgresRoom;
use super::actions::read_pool;
use super::column::{self, get};
use super::entry::mark;
use super::params::{Params, small};
use super::trouble::Trouble;
use crate::form::{self, limit_column};
use crate::{
    AttemptOf, AuthorityRead, Checkpoint, DispatchRead, Dispatchable, DurableReads, NextDue, PhaseRead,
    PoolRow, RunningAttempt, ScheduleRetry, SweepStage,
};

/// Reads every row alike.
pub(super) fn each<T>(
    read: fn(&Row) -> Result<T, Trouble>,
) -> impl FnOnce(&[Row]) -> Result<Vec<T>, Trouble> {
    move |rows| rows.iter().map(read).collect()
}

fn window(row: &Row) -> Result<Window, Trouble> {
    let priority = u8::try_from(column::small(row, "priority")?);
    let priority = priority.map_err(|_| Trouble::BadRow("priority is above 255".to_owned()))?;
    Ok(Window { queue: get(row, "queue")?, kind: get(row, "kind")?, priority: Priority(priority) })
}

fn dispatchable(row: &Row) -> Result<Dispatchable, Trouble> {
    let (due, sequence) = (column::time(row, "due")?, column::count(row, "sequence")?);
    Ok(Dispatchable {
        job: column::job(row)?,
        window: window(row)?,
        position: protocol::Position { due, sequence },
        checkpoint_revision: column::count(row, "checkpoint_revision")?,
        mark: mark(column::count(row, "revision")?),
    })
}

fn running(row: &Row) -> Result<RunningAttempt, Trouble> {
    Ok(RunningAttempt {
        job: column::job(row)?,
        attempt: AttemptId::from_bytes(column::id(row, "attempt")?),
        token: column::token(row, "token")?,
        worker: Incarnation::from_bytes(column::id(row, "worker")?),
        epoch: column::count(row, "epoch")?,
        phase: column::phase(row, "phase")?,
        cancel_requested_at: column::maybe_time(row, "cancel_requested_at")?,
        now: column::time(row, "now")?,
        mark: mark(column::count(row, "revision")?),
    })
}

/// Where a job stands; `None` for a stranger.
fn standing(row: &Row) -> Result<Option<PhaseRead>, Trouble> {
    if get::<Option<&str>>(row, "phase")?.is_none() {
        return Ok(None);
    }
    Ok(Some(PhaseRead {
        phase: column::phase(row, "phase")?,
        attempt: column::maybe_id(row, "attempt")?.map(AttemptId::from_bytes),
        mark: mark(column::count(row, "revision")?),
    }))
}

/// Rows of one stage follow one another.
fn stages(rows: &[Row]) -> Result<Vec<SweepStage>, Trouble> {
    let mut stages: Vec<SweepStage> = Vec::new();
    for row in rows {
        let attempt = AttemptId::from_bytes(column::id(row, "attempt")?);
        let job = column::job(row)?;
        if stages.last().is_none_or(|last| (last.job, last.attempt) != (job, attempt)) {
            stages.push(SweepStage {
                job,
                attempt,
                token: column::token(row, "token")?,
                ended_ms_ago: column::time(row, "now")?.since_ms(column::time(row, "ended_at")?),
                stopped: get(row, "stopped")?,
                committed: get(row, "committed")?,
                terminal: get(row, "terminal")?,
                keep: Vec::new(),
            });
        }
        if let (Some(manifest), Some(stage)) = (get::<Option<bool>>(row, "manifest")?, stages.last_mut()) {
            form::keep(&mut stage.keep, manifest, column::document(row, "document")?);
        }
    }
    Ok(stages)
}

fn ids(jobs: &[JobId]) -> Params {
    Params::new().ids(jobs.iter().map(|job| job.to_bytes()))
}

#[async_trait]
impl DurableReads for PostgresRoom {
    async fn pool(&self) -> Result<PoolRow, Fault> {
        let ask = (&*self.desk.statements.pool_read, Params::new());
        self.desk.sessions.read("read the pool", ask, read_pool).await
    }

    async fn waiting_windows(&self) -> Result<Vec<Window>, Fault> {
        let ask = (&*self.desk.statements.waiting_windows, Params::new().now(self.desk.now()));
        self.desk.sessions.read("read the waiting windows", ask, each(window)).await
    }

    #[doc(alias = "DispatchRead")]
    async fn dispatch_read(&self, read: &DispatchRead) -> Result<Vec<Dispatchable>, Fault> {
        let params = Params::new()
            .now(self.desk.now())
            .text(Some(read.window.queue.clone()))
            .text(Some(read.window.kind.clone()))
            .small(small(read.window.priority.0.into()))
            .big(read.from.due.0)
            .big(form::at_most(read.from.sequence))
            .big(limit_column(read.limit));
        let ask = (&*self.desk.statements.dispatch_read, params);
        self.desk.sessions.read("read a window of the outbox", ask, each(dispatchable)).await
    }

    async fn dispatch_read_jobs(&self, jobs: &[JobId]) -> Result<Vec<Dispatchable>, Fault> {
        let params = Params::new().now(self.desk.now()).ids(jobs.iter().map(|job| job.to_bytes()));
        let ask = (&*self.desk.statements.dispatch_read_jobs, params);
        self.desk.sessions.read("read jobs of the outbox", ask, each(dispatchable)).await
    }

    async fn due_retries(&self, limit: usize) -> Result<Vec<ScheduleRetry>, Fault> {
        let params = Params::new().now(self.desk.now()).big(limit_column(limit));
        let ask = (&*self.desk.statements.due_retries, params);
        let read = |row: &Row| Ok(ScheduleRetry { job: column::job(row)? });
        self.desk.sessions.read("read the retries that are due", ask, each(read)).await
    }

    async fn next_due(&self) -> Result<NextDue, Fault> {
        let ask = (&*self.desk.statements.next_due, Params::new().now(self.desk.now()));
        let read = |rows: &[Row]| {
            let row = rows.first().ok_or_else(|| Trouble::BadRow("the clock has no answer".to_owned()))?;
            Ok(NextDue { now: column::time(row, "now")?, at: column::maybe_time(row, "at")? })
        };
        self.desk.sessions.read("read what falls due next", ask, read).await
    }

    async fn running(&self, after: Option<AttemptId>, limit: usize) -> Result<Vec<RunningAttempt>, Fault> {
        let after = after.map(AttemptId::to_bytes);
        let params = Params::new().now(self.desk.now()).maybe_id(after).big(limit_column(limit));
        let ask = (&*self.desk.statements.running, params);
        self.desk.sessions.read("read the running attempts", ask, each(running)).await
    }

    async fn authority(&self, attempts: &[AttemptOf]) -> Result<Vec<AuthorityRead>, Fault> {
        let params = Params::new().ids(attempts.iter().map(|of| of.job.to_bytes()));
        let ask = (&*self.desk.statements.phases, params);
        let read = |rows: &[Row]| {
            let one = |(asked, row): (&AttemptOf, &Row)| {
                Ok(match standing(row)? {
                    Some(PhaseRead { phase, attempt, mark }) => {
                        AuthorityRead { holds: attempt == Some(asked.attempt), phase: Some(phase), mark }
                    }
                    None => AuthorityRead { holds: false, phase: None, mark: Mark::default() },
                })
            };
            attempts.iter().zip(rows).map(one).collect()
        };
        self.desk.sessions.read("read the authority of attempts", ask, read).await
    }

    async fn phases(&self, jobs: &[JobId]) -> Result<Vec<Option<PhaseRead>>, Fault> {
        let ask = (&*self.desk.statements.phases, ids(jobs));
        self.desk.sessions.read("read the phases of jobs", ask, each(standing)).await
    }

    async fn checkpoint(&self, job: JobId) -> Result<Option<Checkpoint>, Fault> {
        let ask = (&*self.desk.statements.checkpoint, Params::new().id(job.to_bytes()));
        let read = |rows: &[Row]| rows.first().map(column::checkpoint).transpose();
        self.desk.sessions.read("read a checkpoint", ask, read).await
    }

    async fn stages_to_sweep(&self, limit: usize) -> Result<Vec<SweepStage>, Fault> {
        let params = Params::new().now(self.desk.now()).big(limit_column(limit));
        let ask = (&*self.desk.statements.stages_to_sweep, params);
        self.desk.sessions.read("read the stages to sweep", ask, stages).await
    }
}
