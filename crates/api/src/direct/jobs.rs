//! Lists and single jobs.

use coordination::{LiveProgress, WorkerView};
use durable::{AttemptView, JobFilter, JobSummary, JobView, ProgramExit, PublishedResult};
use protocol::job::{check_name, check_text};
use protocol::{FailureCause, Incarnation, JobId, Phase, Verdict};
use serde_json::value::RawValue;
use target::{Digest, StageId};

use super::Direct;
use super::trouble::no_job;
use crate::port::Answer;
use crate::v1::{Attempt, Checkpoint, Code, Job, JobDetail, JobQuery, Page, Problem, Program, ResultSummary};

/// Jobs on one page unless said.
const PAGE: u32 = 50;
/// Jobs on one page at most.
const LONGEST_PAGE: u32 = 1_000;

/// A shorter text would find everything.
const SHORTEST_TEXT: usize = 3;

/// A job as the store lists it.
pub(super) fn job(summary: JobSummary) -> Job {
    Job {
        job: summary.job,
        phase: summary.phase,
        kind: summary.kind,
        queue: summary.queue,
        priority: summary.priority.0,
        attempt: summary.token.0,
        max_attempts: summary.max_attempts,
        created_at: summary.created_at.into(),
        due_at: summary.due_at.into(),
        finished_at: summary.finished_at.map(Into::into),
        progress: summary.progress.map(Into::into),
        error: summary.error,
        command: summary.command,
        set_aside: summary.set_aside,
    }
}

/// An attempt's end in a word.
pub(super) fn verdict_word(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "running",
        Some(Verdict::Succeeded) => "succeeded",
        Some(Verdict::Cancelled) => "cancelled",
        Some(Verdict::Failed(cause)) => match cause {
            FailureCause::Failed => "failed",
            FailureCause::TimedOut => "timed_out",
            FailureCause::Drained => "drained",
            FailureCause::BadCheckpoint => "bad_checkpoint",
            FailureCause::Permanent => "permanent",
            FailureCause::Lost => "lost",
        },
    }
}

fn attempt(view: AttemptView, workers: &[WorkerView]) -> Attempt {
    let worker = workers.iter().find(|worker| worker.registration.worker == view.worker);
    let lease = worker.and_then(|worker| worker.attempts.iter().find(|held| held.attempt == view.attempt));
    let (exit_code, signal) = match view.exit {
        Some(ProgramExit::Code(code)) => (Some(code), None),
        Some(ProgramExit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    Attempt {
        attempt: view.token.0,
        attempt_id: view.attempt,
        worker: view.worker,
        worker_name: worker.map(|worker| worker.registration.name.clone()),
        verdict: verdict_word(view.verdict).to_owned(),
        started_at: view.started_at.into(),
        ended_at: view.ended_at.map(Into::into),
        resumed_from: view.resumed_from,
        exit_code,
        signal,
        error: view.error,
        lease_age_ms: lease.map(|held| held.age_ms),
    }
}

/// The stage that a result lies in.
pub(super) fn stage_of(result: &PublishedResult) -> StageId {
    StageId { job: result.job, token: result.token, attempt: result.attempt }
}

fn wrong(field: &str, value: &str, allowed: &str) -> Problem {
    protocol::Violation { field: field.to_owned(), value: value.to_owned(), allowed: allowed.to_owned() }
        .into()
}

/// The store's filter for a query.
fn filter(query: &JobQuery) -> Answer<JobFilter> {
    let limit = query.limit.unwrap_or(PAGE);
    if !(1..=LONGEST_PAGE).contains(&limit) {
        return Err(wrong("limit", &limit.to_string(), "1 to 1000"));
    }
    for (field, name) in [("kind", &query.kind), ("queue", &query.queue)] {
        name.as_ref().map_or(Ok(()), |name| check_name(field, name))?;
    }
    if let Some(text) = &query.text {
        check_text("text", text)?;
        if text.chars().count() < SHORTEST_TEXT {
            return Err(wrong("text", &format!("{text:?}"), "at least 3 letters"));
        }
    }
    let before = match &query.cursor {
        None => None,
        Some(cursor) => {
            Some(cursor.parse().map_err(|_| wrong("cursor", cursor, "what the page before gave as `next`"))?)
        }
    };
    Ok(JobFilter {
        phases: query.phase.clone(),
        kind: query.kind.clone(),
        queue: query.queue.clone(),
        workers: Vec::new(),
        created_from: query.created_from.map(|at| at.0),
        created_until: query.created_until.map(|at| at.0),
        text: query.text.clone(),
        before,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        scan: JobFilter::SCAN,
    })
}

impl Direct {
    pub(super) async fn list(&self, query: &JobQuery) -> Answer<Page<Job>> {
        if let Some(job) = query.text.as_ref().and_then(|text| text.parse::<JobId>().ok()) {
            return self.one_of(query, job).await;
        }
        let mut filter = filter(query)?;
        if let Some(worker) = &query.worker {
            filter.workers = self.incarnations(worker).await?;
            if filter.workers.is_empty() {
                return Ok(Page { items: Vec::new(), next: None });
            }
        }
        let page = self.rooms.listing.list(&filter).await?;
        let next = page.next.map(|next| next.to_string());
        let mut items: Vec<Job> = page.jobs.into_iter().map(job).collect();
        self.add_progress(&mut items).await;
        Ok(Page { items, next })
    }

    /// The list of the one job that a text names, where all else of the query holds for it, too.
    async fn one_of(&self, query: &JobQuery, job: JobId) -> Answer<Page<Job>> {
        let query = JobQuery { text: None, cursor: None, limit: Some(1), ..query.clone() };
        let mut filter = filter(&query)?;
        // The list begins before this job's successor.
        filter.before = job.0.checked_add(1).map(JobId);
        filter.scan = 1;
        if let Some(worker) = &query.worker {
            filter.workers = self.incarnations(worker).await?;
        }
        let mut items: Vec<Job> =
            self.rooms.listing.list(&filter).await?.jobs.into_iter().map(self::job).collect();
        items.retain(|found| found.job == job);
        self.add_progress(&mut items).await;
        Ok(Page { items, next: None })
    }

    /// The incarnations of a worker's name, or the one that is named.
    async fn incarnations(&self, worker: &str) -> Answer<Vec<Incarnation>> {
        if let Ok(incarnation) = worker.parse() {
            return Ok(vec![incarnation]);
        }
        check_name("worker", worker)?;
        let known = self.coordination()?.workers().await?;
        let named = known.iter().filter(|known| known.registration.name == worker);
        Ok(named.map(|known| known.registration.worker).collect())
    }

    /// Shows what runs with its live progress, where coordination gives an answer.
    pub(super) async fn add_progress(&self, jobs: &mut [Job]) {
        let runs = |job: &&mut Job| matches!(job.phase, Phase::Running | Phase::Cancelling);
        let running: Vec<JobId> = jobs
            .iter()
            .filter(|job| matches!(job.phase, Phase::Running | Phase::Cancelling))
            .map(|job| job.job)
            .collect();
        let Some(coordination) = self.rooms.coordination.as_ref().filter(|_| !running.is_empty()) else {
            return;
        };
        let Ok(live) = coordination.progress(&running).await else { return };
        for (job, live) in jobs.iter_mut().filter(runs).zip(live) {
            show_live(job, live);
        }
    }

    pub(super) async fn view(&self, job: JobId) -> Answer<JobView> {
        self.rooms.listing.job(job).await?.ok_or_else(|| no_job(job))
    }

    pub(super) async fn detail(&self, id: JobId) -> Answer<JobDetail> {
        let view = self.view(id).await?;
        let result = view.result.as_ref().map(|result| self.result_summary(result));
        let workers = match &self.rooms.coordination {
            // Names and lease ages are left out while it is away.
            Some(coordination) if !view.summary.phase.is_terminal() => {
                coordination.workers().await.unwrap_or_default()
            }
            _ => Vec::new(),
        };
        let checkpoint = match view.checkpoint_revision {
            0 => None,
            _ => self.rooms.reads.checkpoint(id).await?,
        };
        let spec = view.spec;
        let bad = |_| Problem::new(Code::Damaged, format!("the args of {id} are not JSON"));
        let program = spec.command.map(|command| Program {
            argv: command.argv,
            cwd: command.cwd,
            env: command.env.into_iter().map(|(name, _)| name).collect(),
        });
        let mut listed = job(view.summary);
        self.add_progress(std::slice::from_mut(&mut listed)).await;
        Ok(JobDetail {
            job: listed,
            args: RawValue::from_string(spec.args).map_err(bad)?,
            program,
            timeout_ms: spec.timeout_ms,
            retry_base_ms: spec.retry.base_ms,
            retry_cap_ms: spec.retry.cap_ms,
            idempotency_key: spec.idempotency_key,
            retry_of: view.retry_of,
            revision: view.revision,
            checkpoint: checkpoint.map(|checkpoint| Checkpoint {
                revision: checkpoint.revision,
                attempt: checkpoint.token.0,
                sealed: checkpoint.progress,
                progress: checkpoint.user.into(),
                at: checkpoint.at.into(),
            }),
            attempts: view.attempts.into_iter().map(|view| attempt(view, &workers)).collect(),
            result,
        })
    }

    pub(super) fn result_summary(&self, result: &PublishedResult) -> ResultSummary {
        let path = self.rooms.target.local_result(&stage_of(result));
        ResultSummary {
            job: result.job,
            attempt: result.token.0,
            attempt_id: result.attempt,
            files: result.record.files,
            bytes: result.record.bytes,
            digest: Digest(result.record.digest).to_string(),
            published_at: result.at.into(),
            path: path.map(|path| path.display().to_string()),
        }
    }
}

/// Live progress is newer than the checkpoint's.
pub(super) fn show_live(job: &mut Job, live: Option<LiveProgress>) {
    if let Some(live) = live {
        job.progress = Some(live.progress.into());
    }
}
