//! The book of a campaign: jobs that are open, and what those that ended came to.
//!
//! Promises to forget a job once it was judged, so that a campaign of any length needs little memory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use protocol::{Guard, JobId, Phase, Timestamp};
use remora::ClientError;
use target::StageId;

use super::jobs::{self, Coming, Expect};
use crate::fleet::{Reader, stage_of};
use crate::seed::Seed;

const PAGE: usize = 200;
const AGAIN: Duration = Duration::from_millis(200);
/// Looked for ended jobs so often.
const LOOK: Duration = Duration::from_millis(500);

/// What is open, and what it came to.
#[derive(Debug, Default)]
pub(super) struct Pages {
    open: HashMap<JobId, (Expect, Instant)>,
    /// Results of jobs that have succeeded: all that may be left in the target.
    pub(super) published: HashSet<StageId>,
    pub(super) submitted: u64,
    pub(super) checked: u64,
    pub(super) phases: BTreeMap<Phase, u64>,
    pub(super) verdicts: BTreeMap<String, u64>,
    pub(super) most_attempts: usize,
    pub(super) slowest: Duration,
    /// What must not be.
    pub(super) wrong: Vec<String>,
}

/// Shared by those who submit and those who check.
#[derive(Clone)]
pub(super) struct Book {
    pages: Arc<Mutex<Pages>>,
    reader: Reader,
}

impl Book {
    pub(super) fn new(reader: Reader) -> Self {
        Self { pages: Arc::default(), reader }
    }

    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Pages) -> T) -> T {
        act(&mut self.pages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Jobs that are not known to have ended.
    pub(super) fn open(&self) -> Vec<JobId> {
        self.with(|pages| pages.open.keys().copied().collect())
    }

    /// Submits jobs until it is aborted.
    pub(super) async fn submit_all(self, mut seed: Seed, every: Duration, first: u64) {
        let mut next = tokio::time::Instant::now();
        for number in first.. {
            tokio::time::sleep_until(next).await;
            next += every;
            let coming = jobs::next(&mut seed, number, now());
            tokio::spawn(self.clone().submit(coming));
        }
    }

    /// Submits one, however often the store must be asked, and cancels it if that is its fate.
    async fn submit(self, coming: Coming) {
        let Coming { spec, expect, cancel_after } = coming;
        let job = loop {
            match self.reader.client().submit(spec.clone()).await {
                Ok(submitted) => break submitted.job,
                Err(ClientError::Fault(_)) => tokio::time::sleep(AGAIN).await,
                Err(error) => {
                    return self.with(|pages| pages.wrong.push(format!("a submit was refused: {error}")));
                }
            }
        };
        self.with(|pages| {
            pages.submitted += 1;
            pages.open.insert(job, (expect, Instant::now()));
        });
        if let Some(after) = cancel_after {
            tokio::time::sleep(after).await;
            self.cancel(job).await;
        }
    }

    async fn cancel(&self, job: JobId) {
        loop {
            match self.reader.client().cancel(job).await {
                Ok(_) => {
                    let promised = |pages: &mut Pages| {
                        if let Some((expect, _)) = pages.open.get_mut(&job) {
                            *expect = Expect::Cancelled;
                        }
                    };
                    return self.with(promised);
                }
                Err(ClientError::Fault(_)) => tokio::time::sleep(AGAIN).await,
                Err(ClientError::Refused(Guard::Cancellable)) => return,
                Err(error) => {
                    return self.with(|pages| pages.wrong.push(format!("the cancel of {job}: {error}")));
                }
            }
        }
    }

    /// Checks what has ended, until it is aborted.
    pub(super) async fn check_all(self) {
        loop {
            tokio::time::sleep(LOOK).await;
            // A store may be away just now: the next look tells.
            let _ = self.check().await;
        }
    }

    /// Checks what has ended by now.
    ///
    /// # Errors
    /// When a store is away.
    pub(super) async fn check(&self) -> anyhow::Result<()> {
        for page in self.open().chunks(PAGE) {
            let phases = self.reader.client().durable().phases(page).await?;
            for (job, read) in page.iter().zip(phases) {
                match read {
                    Some(read) if !read.phase.is_terminal() => {}
                    Some(_) => self.close(*job).await?,
                    None => self.with(|pages| {
                        pages.open.remove(job);
                        pages.wrong.push(format!("{job} was accepted and is not there"));
                    }),
                }
            }
        }
        Ok(())
    }

    async fn close(&self, job: JobId) -> anyhow::Result<()> {
        let view = self.reader.job(job).await?;
        let Some((expect, since)) = self.with(|pages| pages.open.get(&job).copied()) else { return Ok(()) };
        let wrong = jobs::judge(&self.reader, &view, expect).await?;
        self.with(|pages| {
            // A cancel may have been promised since; it was promised of a job that had not ended.
            if pages.open.remove(&job).is_none() {
                return;
            }
            pages.checked += u64::from(view.result.is_some());
            *pages.phases.entry(view.summary.phase).or_default() += 1;
            for attempt in &view.attempts {
                let verdict = attempt.verdict.map_or("none".to_owned(), |verdict| format!("{verdict:?}"));
                *pages.verdicts.entry(verdict).or_default() += 1;
            }
            pages.most_attempts = pages.most_attempts.max(view.attempts.len());
            pages.slowest = pages.slowest.max(since.elapsed());
            pages.published.extend(stage_of(&view));
            pages.wrong.extend(wrong.map(|wrong| format!("{job}: {wrong}")));
        });
        Ok(())
    }
}

/// The time of this machine, which the stores share.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
