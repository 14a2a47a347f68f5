//! What the rooms hold that bears on a job.

use std::collections::BTreeMap;
use std::time::Duration;

use coordination::{CoordinationRoom, Holding, PoolState, WindowState, WorkerView};
use durable::{AttemptView, DispatchRead, JobView, PoolRow, RunningAttempt};
use protocol::{AttemptId, Fault, Incarnation, JobId, Mark, Phase, Position, Timestamp, Window, told};

use super::super::Direct;
use crate::port::Answer;
use crate::v1::{Code, Problem};

/// Rows of a window that are counted at most.
const COUNTED: usize = 1_000;
/// Holdings read at a time, and pages of them read at most, to count who holds reservations.
const PAGE: usize = 500;
const PAGES: usize = 4;
/// How long coordination may take.
const BOUND: Duration = Duration::from_secs(2);
/// Readings until both rooms tell of the same revision.
const READINGS: usize = 10;

/// What coordination tells.
pub(super) enum Live {
    /// Nobody holds it.
    Nobody,
    /// It gave no answer, for this reason.
    Away(String),
    /// It answered.
    Known(Box<Known>),
}

/// What coordination holds.
pub(super) struct Known {
    pub(super) pool: PoolState,
    pub(super) workers: Vec<WorkerView>,
    pub(super) windows: Vec<WindowState>,
    /// What it holds of the job, and the moment of that read.
    pub(super) holding: Option<Holding>,
    pub(super) mark: Mark,
    /// Reservations by holder, where the pool has any.
    pub(super) reserved: BTreeMap<Incarnation, u32>,
}

impl Known {
    /// Entries in a window that someone serves.
    pub(super) fn entries(&self, window: &Window) -> usize {
        self.windows.iter().find(|state| state.window == *window).map_or(0, |state| state.entries)
    }

    /// Entries of the same queue and kind that are taken before those of the window.
    pub(super) fn preferred(&self, window: &Window) -> usize {
        let better = |state: &&WindowState| {
            let other = &state.window;
            other.queue == window.queue && other.kind == window.kind && other.priority < window.priority
        };
        self.windows.iter().filter(better).map(|state| state.entries).sum()
    }
}

/// How many stand before a job in its window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) jobs: usize,
    /// Whether there may be more.
    pub(super) more: bool,
}

/// What the rooms hold that bears on a job.
pub(super) struct Facts {
    pub(super) view: JobView,
    /// The store's clock at the first read.
    pub(super) now: Timestamp,
    pub(super) row: PoolRow,
    /// The attempt with authority.
    pub(super) running: Option<RunningAttempt>,
    pub(super) before: Before,
    pub(super) live: Live,
}

impl Facts {
    /// The window it is offered in.
    pub(super) fn window(&self) -> Window {
        let job = &self.view.summary;
        Window { queue: job.queue.clone(), kind: job.kind.clone(), priority: job.priority }
    }

    /// How long it has been due.
    pub(super) fn waited_ms(&self) -> u64 {
        self.now.since_ms(self.view.summary.due_at)
    }

    /// The attempt that has not ended.
    pub(super) fn current(&self) -> Option<&AttemptView> {
        self.view.attempts.iter().find(|attempt| attempt.verdict.is_none())
    }

    pub(super) fn known(&self) -> Option<&Known> {
        match &self.live {
            Live::Known(known) => Some(known),
            Live::Nobody | Live::Away(_) => None,
        }
    }

    pub(super) fn workers(&self) -> &[WorkerView] {
        self.known().map_or(&[], |known| &known.workers)
    }

    /// Rooms that gave no answer.
    pub(super) fn away(&self) -> Vec<String> {
        match &self.live {
            Live::Away(why) => vec![format!("coordination: {why}")],
            Live::Nobody | Live::Known(_) => Vec::new(),
        }
    }

    /// Whether the durable room and coordination agree on an epoch that is open.
    pub(super) fn settled(&self) -> bool {
        self.known().is_some_and(|known| {
            let (epoch, pool) = (self.row.epoch, &known.pool);
            self.row.open && pool.open && pool.mark.epoch == epoch && known.mark.epoch == epoch
        })
    }
}

/// What coordination holds of one job.
pub(super) async fn holding_of(
    coordination: &dyn CoordinationRoom,
    job: JobId,
) -> Result<(Option<Holding>, Mark), Fault> {
    let after = job.0.checked_sub(1).map(JobId);
    let page = coordination.holdings(after, 1).await?;
    Ok((page.jobs.into_iter().find(|holding| holding.job == job), page.mark))
}

/// Who holds how many reservations.
async fn reservations(coordination: &dyn CoordinationRoom) -> Result<BTreeMap<Incarnation, u32>, Fault> {
    let mut held = BTreeMap::new();
    let mut after = None;
    for _ in 0..PAGES {
        let page = coordination.holdings(after, PAGE).await?;
        for (_, worker) in page.jobs.iter().filter_map(|holding| holding.reservation) {
            *held.entry(worker).or_default() += 1;
        }
        after = page.jobs.last().map(|holding| holding.job);
        if !page.more || after.is_none() {
            break;
        }
    }
    Ok(held)
}

async fn known(coordination: &dyn CoordinationRoom, job: JobId) -> Result<Known, Fault> {
    let pool = coordination.pool().await?;
    let workers = coordination.workers().await?;
    let windows = coordination.windows().await?;
    let (holding, mark) = holding_of(coordination, job).await?;
    let reserved = match pool.reservations {
        0 => BTreeMap::new(),
        _ => reservations(coordination).await?,
    };
    Ok(Known { pool, workers, windows, holding, mark, reserved })
}

impl Direct {
    pub(super) async fn facts(&self, job: JobId) -> Answer<Facts> {
        let mut view = self.view(job).await?;
        for _ in 0..READINGS {
            let row = self.rooms.reads.pool().await?;
            let now = self.rooms.reads.next_due().await?.now;
            let running = self.running(&view).await?;
            let before = self.before(&view).await?;
            let live = self.live(job).await;
            let again = self.view(job).await?;
            if again.revision == view.revision {
                return Ok(Facts { view: again, now, row, running, before, live });
            }
            view = again;
        }
        Err(Problem::new(Code::Unavailable, format!("{job} changes faster than it can be read")))
    }

    pub(super) async fn live(&self, job: JobId) -> Live {
        let Some(coordination) = &self.rooms.coordination else { return Live::Nobody };
        match tokio::time::timeout(BOUND, known(coordination.as_ref(), job)).await {
            Ok(Ok(known)) => Live::Known(Box::new(known)),
            Ok(Err(fault)) => Live::Away(told(&fault)),
            Err(_) => Live::Away(format!("it gave no answer within {} s", BOUND.as_secs())),
        }
    }

    /// The row of the attempt with authority.
    pub(super) async fn running(&self, view: &JobView) -> Answer<Option<RunningAttempt>> {
        let Some(current) = view.attempts.iter().find(|attempt| attempt.verdict.is_none()) else {
            return Ok(None);
        };
        let after = current.attempt.0.checked_sub(1).map(AttemptId);
        let page = self.rooms.reads.running(after, 1).await?;
        Ok(page.into_iter().find(|running| running.attempt == current.attempt))
    }

    /// How many due jobs stand before a queued one.
    async fn before(&self, view: &JobView) -> Answer<Before> {
        if view.summary.phase != Phase::Queued {
            return Ok(Before::default());
        }
        let found = self.rooms.reads.dispatch_read_jobs(&[view.summary.job]).await?;
        let Some(own) = found.into_iter().next() else { return Ok(Before::default()) };
        let from = Position { due: Timestamp::MIN, sequence: 0 };
        let read = DispatchRead { window: own.window, from, limit: COUNTED };
        let rows = self.rooms.reads.dispatch_read(&read).await?;
        let jobs = rows.iter().filter(|row| row.position < own.position).count();
        Ok(Before { jobs, more: jobs == COUNTED })
    }
}
