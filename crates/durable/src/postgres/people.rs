//! The port's reads for people: lists, one job, counts, results. They have connections of their own, so that a long
//! list holds up no agent.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, JobId, JobSpec, Phase, Priority};
use tokio_postgres::Row;

use super::PostgresRoom;
use super::column::{self, get};
use super::params::Params;
use super::reads::each;
use super::trouble::Trouble;
use crate::form::{self, limit_column};
use crate::{AttemptView, JobFilter, JobPage, JobSummary, JobView, Listing, PhaseCount, PublishedResult};

/// Jobs on one page, at most.
const PAGE: usize = 1_000;

fn summary(row: &Row) -> Result<JobSummary, Trouble> {
    let words: Option<&str> = get(row, "words")?;
    let error: Option<&str> = get(row, "error")?;
    Ok(JobSummary {
        job: column::job(row)?,
        kind: get(row, "kind")?,
        queue: get(row, "queue")?,
        priority: Priority(u8::try_from(column::small(row, "priority")?).unwrap_or(u8::MAX)),
        phase: column::phase(row, "phase")?,
        token: column::token(row, "token")?,
        max_attempts: column::small(row, "max_attempts")?,
        created_at: column::time(row, "created_at")?,
        due_at: column::time(row, "due_at")?,
        finished_at: column::maybe_time(row, "finished_at")?,
        progress: column::user_shown(row)?,
        error: error.map(|text| text.lines().next().unwrap_or_default().to_owned()),
        command: words.and_then(|text| serde_json::from_str(text).ok()),
        set_aside: get(row, "set_aside")?,
    })
}

fn view(rows: &[Row]) -> Result<Option<JobView>, Trouble> {
    let Some(row) = rows.first() else { return Ok(None) };
    let summary = summary(row)?;
    // A row that cannot be decoded is shown all the same: somebody has to see why it was set aside.
    let spec = form::spec(get(row, "spec")?).unwrap_or_else(|_| JobSpec {
        kind: summary.kind.clone(),
        queue: summary.queue.clone(),
        priority: summary.priority,
        max_attempts: summary.max_attempts,
        ..JobSpec::default()
    });
    let result = match column::maybe_id(row, "result_attempt")? {
        Some(_) => Some(published(summary.job, row)?),
        None => None,
    };
    let attempts = rows.iter().map(attempt).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(JobView {
        summary,
        spec,
        retry_of: column::maybe_id(row, "retry_of")?.map(JobId::from_bytes),
        revision: column::count(row, "revision")?,
        attempts: attempts.into_iter().flatten().collect(),
        result,
        checkpoint_revision: column::count(row, "checkpoint_revision")?,
    }))
}

/// The attempt in a row of one job; `None` in the only row of a job without any.
fn attempt(row: &Row) -> Result<Option<AttemptView>, Trouble> {
    let Some(attempt) = column::maybe_id(row, "attempt")? else { return Ok(None) };
    Ok(Some(AttemptView {
        attempt: AttemptId::from_bytes(attempt),
        token: column::token(row, "attempt_token")?,
        worker: Incarnation::from_bytes(column::id(row, "worker")?),
        started_at: column::time(row, "started_at")?,
        ended_at: column::maybe_time(row, "ended_at")?,
        verdict: get::<Option<&str>>(row, "verdict")?.map(column::verdict).transpose()?,
        error: get(row, "attempt_error")?,
        exit: column::exit(row)?,
        resumed_from: column::count(row, "resumed_from")?,
    }))
}

fn published(job: JobId, row: &Row) -> Result<PublishedResult, Trouble> {
    Ok(PublishedResult {
        job,
        attempt: AttemptId::from_bytes(column::id(row, "result_attempt")?),
        token: column::token(row, "result_token")?,
        record: column::record(row)?,
        at: column::time(row, "result_at")?,
    })
}

impl PostgresRoom {
    /// The newest jobs of a phase, or of all: one more than asked for, to see whether there are more.
    async fn jobs_of(
        &self,
        filter: &JobFilter,
        phase: Option<Phase>,
        limit: usize,
    ) -> Result<Vec<JobSummary>, Fault> {
        let statements = &self.desk.statements;
        let text = match phase {
            None => &statements.list_all,
            Some(Phase::Queued) => &statements.list_queued,
            Some(Phase::RetryWait) => &statements.list_retry_wait,
            Some(Phase::Running | Phase::Cancelling) => &statements.list_running,
            Some(Phase::Succeeded | Phase::Failed | Phase::Cancelled) => &statements.list_ended,
        };
        let params = Params::new()
            .text(phase.map(|phase| phase.name().to_owned()))
            .text(filter.kind.clone())
            .text(filter.queue.clone())
            .maybe_id(filter.before.map(JobId::to_bytes))
            .big(limit_column(limit + 1));
        self.people.read("list jobs", (text, params), each(summary)).await
    }
}

#[async_trait]
impl Listing for PostgresRoom {
    async fn list(&self, filter: &JobFilter) -> Result<JobPage, Fault> {
        let limit = filter.limit.min(PAGE);
        // No name holds a NUL, and the server takes none.
        if filter.kind.iter().chain(&filter.queue).any(|name| name.contains('\0')) {
            return Ok(JobPage { jobs: Vec::new(), more: false });
        }
        let mut phases: Vec<_> = filter.phases.iter().copied().map(Some).collect();
        phases.sort_unstable();
        phases.dedup();
        if phases.is_empty() {
            phases.push(None);
        }
        let mut jobs = Vec::new();
        for phase in phases {
            jobs.extend(self.jobs_of(filter, phase, limit).await?);
        }
        jobs.sort_unstable_by_key(|job| std::cmp::Reverse(job.job));
        // A job may move from one phase into another between two reads.
        jobs.dedup_by_key(|job| job.job);
        let more = jobs.len() > limit;
        jobs.truncate(limit);
        Ok(JobPage { jobs, more })
    }

    async fn job(&self, job: JobId) -> Result<Option<JobView>, Fault> {
        let ask = (&*self.desk.statements.job, Params::new().id(job.to_bytes()));
        self.people.read("read a job", ask, view).await
    }

    async fn counts(&self) -> Result<Vec<PhaseCount>, Fault> {
        let read = |row: &Row| {
            Ok(PhaseCount {
                queue: get(row, "queue")?,
                phase: column::phase(row, "phase")?,
                jobs: column::count(row, "jobs")?,
            })
        };
        self.people.read("count jobs", (&*self.desk.statements.counts, Params::new()), each(read)).await
    }

    async fn result(&self, job: JobId) -> Result<Option<PublishedResult>, Fault> {
        let ask = (&*self.desk.statements.result, Params::new().id(job.to_bytes()));
        let read = |rows: &[Row]| rows.first().map(|row| published(job, row)).transpose();
        self.people.read("read a result", ask, read).await
    }
}
