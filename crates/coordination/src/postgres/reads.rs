//! The port's reads.
//!
//! Promises: each is one statement, so one moment; it waits for no lock, and sees all that was answered before it was asked.

use async_trait::async_trait;
use pg::{Row, get};
use protocol::{Fault, JobId, Mark};

use super::PostgresRoom;
use super::desk::Desk;
use super::params::Params;
use super::reply::{self, Read, must, number};
use super::trouble::Trouble;
use crate::{
    CoordinationReads, HeldLease, Holding, Holdings, LiveProgress, PoolState, WindowState, WorkerView,
};

/// Jobs of one page of holdings, at most.
const PAGE: usize = 1_000;

impl Desk {
    /// What every read takes first.
    fn about(&self) -> Params {
        Params::new().text(Some(self.pool.clone())).now(self.now())
    }
}

#[async_trait]
impl CoordinationReads for PostgresRoom {
    async fn pool(&self) -> Result<PoolState, Fault> {
        self.desk.pool().await
    }

    async fn windows(&self) -> Result<Vec<WindowState>, Fault> {
        let desk = &self.desk;
        let read = |rows: &[Row]| {
            let mut windows = rows.iter().map(window).collect::<Read<Vec<_>>>()?;
            windows.sort_unstable_by(|one, other| one.window.cmp(&other.window));
            Ok(windows)
        };
        desk.sessions.read("list windows", (&desk.statements.windows, desk.about()), read).await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>, Fault> {
        let desk = &self.desk;
        desk.sessions.read("list workers", (&desk.statements.workers, desk.about()), views).await
    }

    async fn holdings(&self, after: Option<JobId>, limit: usize) -> Result<Holdings, Fault> {
        let desk = &self.desk;
        let most = i64::try_from(limit.clamp(1, PAGE)).expect("it is at most a page");
        let params = desk.about().maybe_id(after.map(JobId::to_bytes)).big(most);
        desk.sessions.read("list what is held", (&desk.statements.holdings, params), page).await
    }

    async fn progress(&self, jobs: &[JobId]) -> Result<Vec<Option<LiveProgress>>, Fault> {
        let desk = &self.desk;
        let params = Params::new().text(Some(desk.pool.clone())).ids(jobs.iter().map(|job| job.to_bytes()));
        let read = |rows: &[Row]| rows.iter().map(shown).collect();
        desk.sessions.read("read progress", (&desk.statements.progress, params), read).await
    }
}

fn window(row: &Row) -> Read<WindowState> {
    let entries: i32 = get(row, "entries")?;
    let entries = usize::try_from(entries).map_err(|_| Trouble::BadRow(format!("entries is {entries}")))?;
    Ok(WindowState { window: reply::window(row)?, entries })
}

fn age(row: &Row, column: &str) -> Read<u64> {
    let age: i64 = get(row, column)?;
    Ok(u64::try_from(age).unwrap_or(0))
}

/// The lease of a row, where there is one.
fn lease(row: &Row) -> Read<Option<HeldLease>> {
    let Some(attempt) = reply::attempt(row)? else { return Ok(None) };
    Ok(Some(HeldLease {
        job: must(reply::job(row)?, "job")?,
        attempt,
        token: must(reply::token(row)?, "token")?,
        worker: must(reply::worker(row, "worker")?, "worker")?,
        age_ms: age(row, "age_ms")?,
    }))
}

/// Workers, each of whom has a row for each of its leases.
fn views(rows: &[Row]) -> Read<Vec<WorkerView>> {
    let mut views: Vec<WorkerView> = Vec::new();
    for row in rows {
        let text: &str = get(row, "registration")?;
        let registration: crate::Registration =
            serde_json::from_str(text).map_err(|error| Trouble::BadRow(format!("registration: {error}")))?;
        if views.last().is_none_or(|last| last.registration.worker != registration.worker) {
            let seen_ms_ago = age(row, "silent_ms")?;
            views.push(WorkerView { registration, seen_ms_ago, attempts: Vec::new() });
        }
        if let (Some(lease), Some(view)) = (lease(row)?, views.last_mut()) {
            view.attempts.push(lease);
        }
    }
    Ok(views)
}

/// A page, whose jobs have a row for each of their leases.
fn page(rows: &[Row]) -> Read<Holdings> {
    let Some(first) = rows.first() else {
        return Ok(Holdings { mark: Mark::default(), jobs: Vec::new(), more: false });
    };
    let mark = Mark { epoch: number(first, "epoch")?, order: number(first, "revision")? };
    let mut jobs: Vec<Holding> = Vec::new();
    for row in rows {
        let Some(job) = reply::job(row)? else { continue };
        if jobs.last().is_none_or(|last| last.job != job) {
            let reservation = reply::reservation(row)?.zip(reply::worker(row, "holder")?);
            let (notice, progress) = (get(row, "notice")?, get(row, "progress")?);
            jobs.push(Holding { job, leases: Vec::new(), reservation, notice, progress });
        }
        if let (Some(lease), Some(holding)) = (lease(row)?, jobs.last_mut()) {
            holding.leases.push(lease);
        }
    }
    Ok(Holdings { mark, jobs, more: get(first, "more")? })
}

fn shown(row: &Row) -> Read<Option<LiveProgress>> {
    let Some(attempt) = reply::attempt(row)? else { return Ok(None) };
    let said: &str = get(row, "said")?;
    let progress = serde_json::from_str(said);
    let progress = progress.map_err(|error| Trouble::BadRow(format!("progress: {error}")))?;
    Ok(Some(LiveProgress { attempt, progress }))
}
