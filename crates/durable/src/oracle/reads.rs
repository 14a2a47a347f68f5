//! Reads that decisions rest on. The lock is their snapshot.

use std::collections::BTreeSet;

use async_trait::async_trait;
use protocol::{AttemptId, Fault, JobId, Mark, Phase, Position, Window};

use super::job::JobRow;
use super::{OracleRoom, mark};
use crate::{
    AttemptOf, AuthorityRead, Checkpoint, DispatchRead, Dispatchable, DurableReads, NextDue, PhaseRead,
    PoolRow, RunningAttempt, ScheduleRetry, SweepStage,
};

fn dispatchable(job: JobId, row: &JobRow) -> Dispatchable {
    Dispatchable {
        job,
        window: row.spec.window(),
        position: Position { due: row.offer.due, sequence: row.offer.sequence },
        checkpoint_revision: row.valid_revision(),
        mark: mark(row.revision),
    }
}

#[async_trait]
impl DurableReads for OracleRoom {
    async fn pool(&self) -> Result<PoolRow, Fault> {
        Ok(self.lock().pool.clone())
    }

    async fn waiting_windows(&self) -> Result<Vec<Window>, Fault> {
        let shelf = self.lock();
        let waiting = shelf.jobs.values().filter(|row| row.dispatchable(shelf.now));
        let windows: BTreeSet<_> = waiting.map(|row| row.spec.window()).collect();
        Ok(windows.into_iter().collect())
    }

    async fn dispatch_read(&self, read: &DispatchRead) -> Result<Vec<Dispatchable>, Fault> {
        let shelf = self.lock();
        let mut found: Vec<_> = shelf
            .jobs
            .iter()
            .filter(|(_, row)| row.dispatchable(shelf.now) && row.spec.window() == read.window)
            .map(|(job, row)| dispatchable(*job, row))
            .filter(|found| found.position >= read.from)
            .collect();
        found.sort_by_key(|found| found.position);
        found.truncate(read.limit);
        Ok(found)
    }

    async fn dispatch_read_jobs(&self, jobs: &[JobId]) -> Result<Vec<Dispatchable>, Fault> {
        let shelf = self.lock();
        let read = |job: &JobId| {
            let row = shelf.jobs.get(job).filter(|row| row.dispatchable(shelf.now))?;
            Some(dispatchable(*job, row))
        };
        Ok(jobs.iter().filter_map(read).collect())
    }

    async fn due_retries(&self, limit: usize) -> Result<Vec<ScheduleRetry>, Fault> {
        let shelf = self.lock();
        let waits = |row: &JobRow| row.phase() == Phase::RetryWait && row.due_at <= shelf.now;
        let mut due: Vec<_> =
            shelf.jobs.iter().filter(|(_, row)| waits(row)).map(|(job, row)| (row.due_at, *job)).collect();
        due.sort_unstable();
        Ok(due.into_iter().take(limit).map(|(_, job)| ScheduleRetry { job }).collect())
    }

    async fn next_due(&self) -> Result<NextDue, Fault> {
        let shelf = self.lock();
        let falls_due = |row: &JobRow| match row.phase() {
            Phase::RetryWait => Some(row.due_at),
            Phase::Queued if row.offer.scheduled && row.offer.set_aside.is_none() => Some(row.offer.due),
            _ => None,
        };
        let at = shelf.jobs.values().filter_map(falls_due).filter(|at| *at > shelf.now).min();
        Ok(NextDue { now: shelf.now, at })
    }

    async fn running(&self, after: Option<AttemptId>, limit: usize) -> Result<Vec<RunningAttempt>, Fault> {
        let shelf = self.lock();
        let view = |(job, row): (&JobId, &JobRow)| {
            let (attempt, note) = row.authority()?;
            Some(RunningAttempt {
                job: *job,
                attempt,
                token: row.token(),
                worker: note.worker,
                epoch: note.epoch,
                phase: row.phase(),
                cancel_requested_at: note.cancel_requested_at,
                now: shelf.now,
                mark: mark(row.revision),
            })
        };
        let mut found: Vec<_> = shelf.jobs.iter().filter_map(view).collect();
        found.retain(|found| after.is_none_or(|after| found.attempt > after));
        found.sort_by_key(|found| found.attempt);
        found.truncate(limit);
        Ok(found)
    }

    async fn authority(&self, attempts: &[AttemptOf]) -> Result<Vec<AuthorityRead>, Fault> {
        let shelf = self.lock();
        let read = |asked: &AttemptOf| match shelf.jobs.get(&asked.job) {
            Some(row) => AuthorityRead {
                holds: row.authority().is_some_and(|(attempt, _)| attempt == asked.attempt),
                phase: Some(row.phase()),
                mark: mark(row.revision),
            },
            None => AuthorityRead { holds: false, phase: None, mark: Mark::default() },
        };
        Ok(attempts.iter().map(read).collect())
    }

    async fn phases(&self, jobs: &[JobId]) -> Result<Vec<Option<PhaseRead>>, Fault> {
        let shelf = self.lock();
        let read = |job: &JobId| {
            let row = shelf.jobs.get(job)?;
            let attempt = row.authority().map(|(attempt, _)| attempt);
            Some(PhaseRead { phase: row.phase(), attempt, mark: mark(row.revision) })
        };
        Ok(jobs.iter().map(read).collect())
    }

    async fn checkpoint(&self, job: JobId) -> Result<Option<Checkpoint>, Fault> {
        Ok(self.lock().jobs.get(&job).and_then(|row| row.valid_checkpoint().cloned()))
    }

    async fn stages_to_sweep(&self, limit: usize) -> Result<Vec<SweepStage>, Fault> {
        Ok(self.lock().stages_to_sweep(limit))
    }
}
