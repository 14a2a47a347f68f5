//! The port's reads.
//!
//! Promises: a page of holdings is one script, so its mark is its moment. The rest is put together from several reads and
//! may be stale, as reading for people may be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, JobId, Mark, Priority, ReservationId, Token, Window};

use super::DragonflyRoom;
use super::batch::ROWS;
use super::reply::{Fields, Malformed, Read, Reply, corrupt};
use super::script::Script;
use super::shared::Shared;
use super::words::{Words, read_window};
use crate::{
    CoordinationReads, HeldLease, Holding, Holdings, LiveProgress, PoolState, Registration, WindowState,
    WorkerView,
};

/// Rows of one page of workers, and windows counted at once.
const PAGE: usize = 100;

#[async_trait]
impl CoordinationReads for DragonflyRoom {
    async fn pool(&self) -> Result<PoolState, Fault> {
        self.shared.pool().await
    }

    async fn windows(&self) -> Result<Vec<WindowState>, Fault> {
        let known = self.shared.windows_by_id().await?;
        let registrations = self.shared.registrations().await?;
        let living: Vec<&Registration> =
            registrations.iter().map(|(who, _)| who).filter(|who| !who.draining).collect();
        let mut windows: BTreeMap<Window, usize> = named(&living).map(|window| (window, 0)).collect();
        let served: Vec<_> =
            known.into_iter().filter(|(window, _)| living.iter().any(|who| who.serves(window))).collect();
        let counts = self.shared.counts(&served).await?;
        windows.extend(
            served.into_iter().map(|(window, _)| window).zip(counts).filter(|(_, entries)| *entries > 0),
        );
        Ok(windows.into_iter().map(|(window, entries)| WindowState { window, entries }).collect())
    }

    async fn workers(&self) -> Result<Vec<WorkerView>, Fault> {
        let registrations = self.shared.registrations().await?;
        let mut leases: BTreeMap<Incarnation, Vec<HeldLease>> = BTreeMap::new();
        let mut after = None;
        loop {
            let page = self.shared.holdings(after, ROWS).await?;
            for lease in page.holdings.jobs.into_iter().flat_map(|held| held.leases) {
                leases.entry(lease.worker).or_default().push(lease);
            }
            after = page.last;
            if !page.holdings.more {
                break;
            }
        }
        let view = |(registration, seen_ms_ago): (Registration, u64)| {
            let mut attempts = leases.remove(&registration.worker).unwrap_or_default();
            attempts.sort_by_key(|lease| lease.attempt);
            WorkerView { registration, seen_ms_ago, attempts }
        };
        Ok(registrations.into_iter().map(view).collect())
    }

    async fn holdings(&self, after: Option<JobId>, limit: usize) -> Result<Holdings, Fault> {
        let mut after = after;
        loop {
            let page = self.shared.holdings(after, limit.clamp(1, ROWS)).await?;
            // What names nothing any more fills no page.
            if !page.holdings.jobs.is_empty() || !page.holdings.more {
                return Ok(page.holdings);
            }
            after = page.last;
        }
    }

    async fn progress(&self, jobs: &[JobId]) -> Result<Vec<Option<LiveProgress>>, Fault> {
        let mut all = Vec::with_capacity(jobs.len());
        for chunk in jobs.chunks(ROWS) {
            all.extend(self.shared.progress(chunk).await?);
        }
        Ok(all)
    }
}

/// The windows that workers have named; those of workers that serve every queue cannot be listed.
fn named<'a>(living: &'a [&Registration]) -> impl Iterator<Item = Window> + 'a {
    let pairs: BTreeSet<(&String, &String)> = living
        .iter()
        .flat_map(|who| {
            who.queues.iter().flatten().flat_map(|queue| who.kinds.iter().map(move |kind| (queue, kind)))
        })
        .collect();
    pairs.into_iter().flat_map(|(queue, kind)| {
        (1..=4).map(move |priority| Window {
            queue: queue.clone(),
            kind: kind.clone(),
            priority: Priority(priority),
        })
    })
}

/// A page of holdings, and the last job that it looked at.
struct Page {
    holdings: Holdings,
    last: Option<JobId>,
}

impl Shared {
    async fn windows_by_id(&self) -> Result<Vec<(Window, Vec<u8>)>, Fault> {
        const DOING: &str = "list windows";
        let key = self.names.of(self.pool().await?.mark.epoch, "windows");
        let flat = self.link.command(&[b"HGETALL", &key], DOING).await?.list().map_err(corrupt(DOING))?;
        let pair = |pair: &[Reply]| match pair {
            [text, id] => Ok((read_window(text.text()?)?, id.bytes()?.to_vec())),
            _ => Err(Malformed("a window without its id".to_owned())),
        };
        flat.chunks(2).map(pair).collect::<Read<_>>().map_err(corrupt(DOING))
    }

    async fn counts(&self, windows: &[(Window, Vec<u8>)]) -> Result<Vec<usize>, Fault> {
        const DOING: &str = "count entries";
        let mut counts = Vec::with_capacity(windows.len());
        for chunk in windows.chunks(PAGE) {
            let mut words = Words::default();
            chunk.iter().for_each(|(_, id)| words.text(id.clone()));
            let answered = self.current(Script::Windows, words, DOING).await?;
            let rows = answered.map_or_else(Vec::new, |answered| answered.rows);
            for row in rows {
                let mut fields = Fields::new(row.list().map_err(corrupt(DOING))?);
                counts.push(fields.take().and_then(|count| count.number()).map_err(corrupt(DOING))?);
            }
        }
        Ok(counts)
    }

    /// Living workers, by incarnation, and how long each has been silent.
    async fn registrations(&self) -> Result<Vec<(Registration, u64)>, Fault> {
        const DOING: &str = "list workers";
        let mut all: BTreeMap<Incarnation, (Registration, u64)> = BTreeMap::new();
        for page in 0.. {
            let mut words = Words::default();
            words.number(page * PAGE);
            words.number(PAGE);
            let answered = self.current(Script::Workers, words, DOING).await?;
            let rows = answered.map_or_else(Vec::new, |answered| answered.rows);
            let full = rows.len() == PAGE;
            for row in rows {
                let (registration, silent) = registration(row).map_err(corrupt(DOING))?;
                all.insert(registration.worker, (registration, silent));
            }
            if !full {
                break;
            }
        }
        Ok(all.into_values().collect())
    }

    async fn holdings(&self, after: Option<JobId>, limit: usize) -> Result<Page, Fault> {
        const DOING: &str = "list what is held";
        let mut words = Words::default();
        match after {
            Some(job) => words.id(job.0),
            None => words.text(""),
        }
        words.number(limit);
        match self.current(Script::Holdings, words, DOING).await? {
            None => Ok(Page {
                holdings: Holdings { mark: Mark::default(), jobs: Vec::new(), more: false },
                last: None,
            }),
            Some(answered) => {
                let mark = Mark { epoch: answered.epoch, order: answered.order };
                page(mark, answered.rows).map_err(corrupt(DOING))
            }
        }
    }

    async fn progress(&self, jobs: &[JobId]) -> Result<Vec<Option<LiveProgress>>, Fault> {
        const DOING: &str = "read progress";
        if self.epoch.load(Ordering::SeqCst) == 0 && self.pool().await?.mark.epoch == 0 {
            return Ok(jobs.iter().map(|_| None).collect());
        }
        let mut words = Words::default();
        jobs.iter().for_each(|job| words.id(job.0));
        match self.current(Script::Progress, words, DOING).await? {
            None => Ok(jobs.iter().map(|_| None).collect()),
            Some(answered) => {
                answered.rows.into_iter().map(shown).collect::<Read<_>>().map_err(corrupt(DOING))
            }
        }
    }
}

fn registration(row: Reply) -> Read<(Registration, u64)> {
    let mut fields = Fields::new(row.list()?);
    fields.take()?.id()?;
    let silent = fields.take()?.number()?;
    let text = fields.take()?;
    let read = serde_json::from_slice(text.bytes()?);
    read.map(|registration| (registration, silent))
        .map_err(|error| Malformed(format!("a registration: {error}")))
}

fn page(mark: Mark, rows: Vec<Reply>) -> Read<Page> {
    let mut rows = rows.into_iter();
    let mut head = Fields::new(rows.next().unwrap_or(Reply::Nil).list()?);
    let more = head.take()?.flag()?;
    let last = head.take()?.id_if_any()?.map(JobId);
    let jobs = rows.map(holding).collect::<Read<_>>()?;
    Ok(Page { holdings: Holdings { mark, jobs, more }, last })
}

fn holding(row: Reply) -> Read<Holding> {
    let mut fields = Fields::new(row.list()?);
    let job = JobId(fields.take()?.id()?);
    let (notice, progress) = (fields.take()?.flag()?, fields.take()?.flag()?);
    let (id, worker) = (fields.take()?.id_if_any()?, fields.take()?.id_if_any()?);
    let reservation = id.zip(worker).map(|(id, worker)| (ReservationId(id), Incarnation(worker)));
    let mut leases = Vec::new();
    while fields.are_left() {
        let attempt = AttemptId(fields.take()?.id()?);
        let worker = Incarnation(fields.take()?.id()?);
        let token = Token(fields.take()?.number()?);
        leases.push(HeldLease { job, attempt, token, worker, age_ms: fields.take()?.number()? });
    }
    Ok(Holding { job, leases, reservation, notice, progress })
}

fn shown(row: Reply) -> Read<Option<LiveProgress>> {
    let mut fields = Fields::new(row.list()?);
    let Some(attempt) = fields.take()?.id_if_any()?.map(AttemptId) else { return Ok(None) };
    let said = fields.take()?;
    let read = serde_json::from_slice(said.bytes()?);
    read.map(|progress| Some(LiveProgress { attempt, progress }))
        .map_err(|error| Malformed(format!("progress: {error}")))
}
