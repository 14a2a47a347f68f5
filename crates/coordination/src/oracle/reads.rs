//! The port's reads. The lock is their snapshot.

use std::collections::BTreeMap;

use async_trait::async_trait;
use protocol::{Fault, JobId, Priority, Window};

use super::{OracleRoom, Shelf, millis};
use crate::{CoordinationReads, Holding, Holdings, LiveProgress, PoolState, WindowState, WorkerView};

fn holding(shelf: &Shelf, job: JobId) -> Holding {
    let mut leases: Vec<_> = shelf.leases.iter().filter(|(_, lease)| lease.job == job).collect();
    leases.sort_by_key(|(_, lease)| lease.given);
    let row = shelf.law.row(job);
    Holding {
        job,
        leases: leases.into_iter().map(|(attempt, lease)| shelf.lease_view(*attempt, lease)).collect(),
        reservation: shelf.permits.get(&job).map(|permit| (permit.id, permit.worker)),
        notice: row.is_some_and(|row| row.cancel_notice),
        progress: row.is_some_and(|row| row.live_progress_attempt.is_some()),
    }
}

/// The windows that workers have named, of every priority.
fn named(shelf: &Shelf) -> impl Iterator<Item = Window> {
    let workers = shelf.workers.values().filter(|(worker, _)| !worker.draining);
    workers.flat_map(|(worker, _)| {
        let queues = worker.queues.iter().flatten();
        queues.flat_map(|queue| {
            worker.kinds.iter().flat_map(move |kind| {
                (1..=4).map(move |priority| Window {
                    queue: queue.clone(),
                    kind: kind.clone(),
                    priority: Priority(priority),
                })
            })
        })
    })
}

#[async_trait]
impl CoordinationReads for OracleRoom {
    async fn pool(&self) -> Result<PoolState, Fault> {
        Ok(self.with(|shelf| shelf.pool_state()))
    }

    async fn windows(&self) -> Result<Vec<WindowState>, Fault> {
        Ok(self.with(|shelf| {
            let mut windows: BTreeMap<_, _> = named(shelf).map(|window| (window, 0)).collect();
            let entries = shelf.entries.values().filter(|entry| shelf.served(&entry.window));
            entries.for_each(|entry| *windows.entry(entry.window.clone()).or_insert(0) += 1);
            windows.into_iter().map(|(window, entries)| WindowState { window, entries }).collect()
        }))
    }

    async fn workers(&self) -> Result<Vec<WorkerView>, Fault> {
        Ok(self.with(|shelf| {
            let leases = |worker| {
                let held = shelf.leases.iter().filter(move |(_, lease)| lease.worker == worker);
                held.map(|(attempt, lease)| shelf.lease_view(*attempt, lease)).collect()
            };
            let view = |(registration, seen): &(crate::Registration, std::time::Duration)| WorkerView {
                registration: registration.clone(),
                seen_ms_ago: millis(shelf.now.saturating_sub(*seen)),
                attempts: leases(registration.worker),
            };
            shelf.workers.values().map(view).collect()
        }))
    }

    async fn holdings(&self, after: Option<JobId>, limit: usize) -> Result<Holdings, Fault> {
        Ok(self.with(|shelf| {
            let held = shelf.jobs_after(after);
            let jobs = held.iter().take(limit).map(|job| holding(shelf, *job)).collect();
            Holdings { mark: shelf.mark(), jobs, more: held.len() > limit }
        }))
    }

    async fn progress(&self, jobs: &[JobId]) -> Result<Vec<Option<LiveProgress>>, Fault> {
        Ok(self.with(|shelf| {
            let shown = |job: &JobId| {
                let of = shelf.law.row(*job)?.live_progress_attempt?;
                Some(LiveProgress { attempt: shelf.law.id(of)?, progress: shelf.said.get(job)?.clone() })
            };
            jobs.iter().map(shown).collect()
        }))
    }
}
