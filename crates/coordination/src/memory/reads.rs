//! The port's reads over the pool.

use async_trait::async_trait;
use protocol::{Fault, JobId};

use super::jobs::JobRow;
use super::{MemoryRoom, Shelf, millis};
use crate::{CoordinationReads, Holding, Holdings, LiveProgress, PoolState, WindowState, WorkerView};

#[async_trait]
impl CoordinationReads for MemoryRoom {
    async fn pool(&self) -> Result<PoolState, Fault> {
        let shelf = self.lock();
        Ok(shelf.pool.state(shelf.now))
    }

    async fn windows(&self) -> Result<Vec<WindowState>, Fault> {
        let shelf = self.lock();
        let workers = &shelf.pool.workers;
        let mut windows: Vec<_> =
            shelf.pool.windows.states().filter(|state| workers.serve(&state.window)).collect();
        let empty = workers.named_windows().filter(|window| shelf.pool.windows.entries(window) == 0);
        windows.extend(empty.map(|window| WindowState { window, entries: 0 }));
        Ok(windows)
    }

    async fn workers(&self) -> Result<Vec<WorkerView>, Fault> {
        let shelf = self.lock();
        let view = |(registration, seen): (&crate::Registration, _)| WorkerView {
            registration: registration.clone(),
            seen_ms_ago: millis(shelf.now.saturating_sub(seen)),
            attempts: shelf.pool.leases.of_worker(registration.worker, shelf.now),
        };
        Ok(shelf.pool.workers.iter().map(view).collect())
    }

    async fn holdings(&self, after: Option<JobId>, limit: usize) -> Result<Holdings, Fault> {
        let shelf = self.lock();
        let mut rows = shelf.pool.jobs.after(after);
        let jobs = rows.by_ref().take(limit).map(|(job, row)| holding(&shelf, job, row)).collect();
        Ok(Holdings { mark: shelf.pool.mark(), jobs, more: rows.next().is_some() })
    }

    async fn progress(&self, jobs: &[JobId]) -> Result<Vec<Option<LiveProgress>>, Fault> {
        let shelf = self.lock();
        let shown = |job: &JobId| {
            let shown = shelf.pool.jobs.get(*job)?.shown.as_ref()?;
            Some(LiveProgress { attempt: shown.attempt, progress: shown.progress.clone()? })
        };
        Ok(jobs.iter().map(shown).collect())
    }
}

fn holding(shelf: &Shelf, job: JobId, row: &JobRow) -> Holding {
    let reserved = |id| shelf.pool.reservations.get(id).map(|held| (id, held.worker));
    Holding {
        job,
        leases: row.leases.iter().filter_map(|lease| shelf.pool.leases.view(*lease, shelf.now)).collect(),
        reservation: row.reservation.and_then(reserved),
        notice: row.notice,
        progress: row.shown.is_some(),
    }
}
