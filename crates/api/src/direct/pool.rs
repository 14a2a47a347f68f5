//! The pool, queues, workers, and how the whole is.

use std::collections::BTreeMap;
use std::convert::Infallible;

use coordination::{At, CoordinationRoom, PoolState, WorkerView};
use durable::{Configure, Durable, EndCount, JobFilter, JobSummary, PhaseCount, PoolRow};
use protocol::job::check_name;
use protocol::{Fault, Incarnation, Level, Phase, Step, Timestamp};
use runtime::Caller;

use super::Direct;
use super::jobs::job;
use super::kept::Kept;
use crate::port::Answer;
use crate::v1::{
    Code, Found, HeldAttempt, MinuteEnds, Overview, Pool, PoolChange, Problem, Queue, Readiness, RoomReport,
    Worker,
};

/// Failures that an overview shows.
const FAILURES: usize = 10;
/// Ends that it shows.
const HOUR_MS: u64 = 3_600_000;

/// What a board shows of the durable store.
#[derive(Clone)]
struct Board {
    now: Timestamp,
    counts: Vec<PhaseCount>,
    ends: Vec<EndCount>,
    failures: Vec<JobSummary>,
    oldest_waiting: Option<JobSummary>,
}

/// What is shown to all.
#[derive(Default)]
pub(super) struct Boards {
    counts: Kept<Vec<PhaseCount>, Problem, 20>,
    overview: Kept<Board, Problem, 20>,
    /// Never older than who asks, but one trial at a time.
    pub(super) readiness: Kept<Readiness, Infallible, 0>,
}

fn before(now: Timestamp, ms: u64) -> Timestamp {
    Timestamp(now.0.saturating_sub(i64::try_from(ms).unwrap_or(i64::MAX)))
}

fn ends(counts: Vec<EndCount>) -> Vec<MinuteEnds> {
    let mut ends: Vec<MinuteEnds> = Vec::new();
    for count in counts {
        if ends.last().is_none_or(|last| last.minute.0 != count.minute) {
            ends.push(MinuteEnds { minute: count.minute.into(), succeeded: 0, failed: 0, cancelled: 0 });
        }
        let Some(last) = ends.last_mut() else { continue };
        match count.phase {
            Phase::Succeeded => last.succeeded += count.jobs,
            Phase::Failed => last.failed += count.jobs,
            Phase::Cancelled => last.cancelled += count.jobs,
            Phase::Queued | Phase::Running | Phase::RetryWait | Phase::Cancelling => {}
        }
    }
    ends
}

fn worker(view: WorkerView) -> Worker {
    let registration = view.registration;
    Worker {
        name: registration.name,
        pid: registration.pid,
        host: registration.host,
        incarnation: registration.worker,
        slots: registration.slots,
        queues: registration.queues,
        kinds: registration.kinds,
        draining: registration.draining,
        seen_ms_ago: view.seen_ms_ago,
        attempts: view
            .attempts
            .into_iter()
            .map(|held| HeldAttempt {
                job: held.job,
                attempt: held.token.0,
                attempt_id: held.attempt,
                lease_age_ms: held.age_ms,
            })
            .collect(),
    }
}

fn pool(row: PoolRow, state: Option<&PoolState>) -> Pool {
    let count = |of: fn(&PoolState) -> usize| state.map(|state| u64::try_from(of(state)).unwrap_or(u64::MAX));
    Pool {
        global: row.global_limit,
        in_use: count(|state| state.leases + state.reservations + state.unaccounted),
        leases: count(|state| state.leases),
        reservations: count(|state| state.reservations),
        unaccounted: count(|state| state.unaccounted),
        lease_ms: row.lease_ms,
        epoch: row.epoch,
        open: row.open,
        paused: row.paused,
    }
}

fn queues(counts: Vec<PhaseCount>, paused: &[String]) -> Vec<Queue> {
    let mut queues: BTreeMap<String, BTreeMap<Phase, u64>> = BTreeMap::new();
    for count in counts {
        queues.entry(count.queue).or_default().insert(count.phase, count.jobs);
    }
    for queue in paused {
        queues.entry(queue.clone()).or_default();
    }
    queues.into_iter().map(|(queue, jobs)| Queue { paused: paused.contains(&queue), queue, jobs }).collect()
}

/// Changes the configuration in both rooms. From the answer on nothing is reserved under the old one.
///
/// # Errors
/// When a value is out of range or a store is away.
pub async fn configure(
    caller: &Caller,
    durable: &dyn Durable,
    coordination: Option<&dyn CoordinationRoom>,
    change: &Configure,
) -> Result<PoolRow, Fault> {
    let sent = caller.send();
    let row = sent.of(durable.configure(&sent.origin, change)).await?;
    if let Some(coordination) = coordination {
        // The agents copy it within a second; nobody who paused a queue expects to wait for that. A refusal means
        // that the pool is being rebuilt, from rows that hold the change.
        let sent = caller.send();
        let at = At { origin: sent.origin, epoch: row.epoch };
        sent.of(coordination.configure(&at, &row.config())).await?;
    }
    Ok(row)
}

impl Direct {
    pub(super) async fn registered(&self) -> Answer<Vec<Worker>> {
        Ok(self.coordination()?.workers().await?.into_iter().map(worker).collect())
    }

    pub(super) async fn ask_to_drain(&self, worker: Incarnation) -> Answer<()> {
        let coordination = self.coordination()?;
        let epoch = self.rooms.reads.pool().await?.epoch;
        let sent = self.caller.send();
        let at = At { origin: sent.origin, epoch };
        match sent.of(coordination.request_drain(&at, worker)).await?.step {
            Step::Taken(true) => Ok(()),
            Step::Taken(false) => Err(Problem::not_found(format_args!("worker {worker}"))),
            Step::Refused(guard) => {
                let text =
                    format!("{worker} cannot be asked to drain now: coordination is to be rebuilt ({guard})");
                Err(Problem { guard: Some(guard.name().into()), ..Problem::new(Code::Unavailable, text) })
            }
            Step::SetAside(reason) => Err(Problem::new(Code::Damaged, reason.0)),
        }
    }

    pub(super) async fn count_queues(&self) -> Answer<Vec<Queue>> {
        let row = self.rooms.reads.pool().await?;
        Ok(queues(self.counts().await?, &row.paused))
    }

    pub(super) async fn read_pool(&self) -> Answer<Pool> {
        let row = self.rooms.reads.pool().await?;
        Ok(pool(row, self.pool_state().await.ok().flatten().as_ref()))
    }

    /// What coordination holds of the pool; `None` where nobody holds it.
    pub(super) async fn pool_state(&self) -> Answer<Option<PoolState>> {
        match &self.rooms.coordination {
            Some(coordination) => Ok(Some(coordination.pool().await?)),
            None => Ok(None),
        }
    }

    pub(super) async fn change_pool(&self, change: &PoolChange) -> Answer<Pool> {
        for queue in change.pause.iter().chain(&change.resume) {
            check_name("queue", queue)?;
        }
        let change = Configure {
            global_limit: change.global,
            lease_ms: change.lease_ms,
            pause: change.pause.clone(),
            resume: change.resume.clone(),
        };
        change.validate()?;
        let coordination = self.rooms.coordination.as_deref();
        let row = configure(&self.caller, self.durable()?.as_ref(), coordination, &change).await?;
        Ok(pool(row, self.pool_state().await.ok().flatten().as_ref()))
    }

    async fn counts(&self) -> Answer<Vec<PhaseCount>> {
        let clock = self.runtime.clock.as_ref();
        self.boards.counts.get(clock, async { Ok(self.rooms.listing.counts().await?) }).await
    }

    async fn board(&self) -> Answer<Board> {
        let now = self.rooms.reads.next_due().await?.now;
        let failed = JobFilter { phases: vec![Phase::Failed], limit: FAILURES, ..JobFilter::default() };
        Ok(Board {
            now,
            counts: self.counts().await?,
            ends: self.rooms.listing.ends(before(now, HOUR_MS)).await?,
            failures: self.rooms.listing.list(&failed).await?.jobs,
            oldest_waiting: self.rooms.listing.oldest_waiting().await?,
        })
    }

    pub(super) async fn look_over(&self) -> Answer<Overview> {
        let row = self.rooms.reads.pool().await?;
        let board = self.boards.overview.get(self.runtime.clock.as_ref(), self.board()).await?;
        let mut jobs: BTreeMap<Phase, u64> = Phase::ALL.into_iter().map(|phase| (phase, 0)).collect();
        for count in board.counts {
            *jobs.entry(count.phase).or_default() += count.jobs;
        }
        let mut away = Vec::new();
        let mut note = |problem: Problem| away.push(format!("coordination: {problem}"));
        let state = self.pool_state().await.map_err(&mut note).ok().flatten();
        let workers = match &self.rooms.coordination {
            Some(_) if state.is_some() => self.registered().await.map_err(&mut note).ok(),
            _ => None,
        };
        Ok(Overview {
            at: board.now.into(),
            jobs,
            ends: ends(board.ends),
            pool: pool(row, state.as_ref()),
            workers: workers.as_ref().map(|workers| u64::try_from(workers.len()).unwrap_or(u64::MAX)),
            slots: workers.map(|workers| workers.iter().map(|worker| u64::from(worker.slots)).sum()),
            oldest_waiting: board.oldest_waiting.map(job),
            last_failures: board.failures.into_iter().map(job).collect(),
            away,
        })
    }

    pub(super) async fn examine_rooms(&self) -> Answer<Vec<RoomReport>> {
        let Some(examine) = &self.rooms.examine else {
            return Err(Problem::new(Code::Unsupported, "there is nobody to examine these rooms"));
        };
        let level = |level| match level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Bad => "bad",
        };
        let reports = examine.examine().await.into_iter().map(|(room, findings)| RoomReport {
            room: room.to_owned(),
            findings: findings
                .into_iter()
                .map(|found| Found {
                    name: found.name.to_owned(),
                    level: level(found.level).to_owned(),
                    text: found.text,
                })
                .collect(),
        });
        Ok(reports.collect())
    }
}
