//! The port's reads for people: lists, one job, counts, results.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, JobId, JobSpec, Phase, Priority, Token};
use rusqlite::{Row, named_params};

use super::section::sql;
use super::transaction::Transaction;
use super::trouble::Trouble;
use super::{SqliteReads, SqliteRoom, column};
use crate::form::limit_column;
use crate::{
    AttemptView, JobFilter, JobPage, JobSummary, JobView, Listing, PhaseCount, PublishedResult, ResultRecord,
};

/// Jobs on one page, at most.
const PAGE: usize = 1_000;

fn summary(row: &Row<'_>) -> Result<JobSummary, Trouble> {
    let words: Option<String> = row.get("words")?;
    let error: Option<String> = row.get("error")?;
    Ok(JobSummary {
        job: JobId::from_bytes(column::id(row, "job")?),
        kind: row.get("kind")?,
        queue: row.get("queue")?,
        priority: Priority(row.get("priority")?),
        phase: column::phase(row, "phase")?,
        token: Token(row.get("token")?),
        max_attempts: row.get("max_attempts")?,
        created_at: column::time(row, "created_at")?,
        due_at: column::time(row, "due_at")?,
        finished_at: column::maybe_time(row, "finished_at")?,
        progress: column::user_shown(row)?,
        error: error.map(|text| text.lines().next().unwrap_or_default().to_owned()),
        command: words.and_then(|text| serde_json::from_str(&text).ok()),
        set_aside: row.get("set_aside")?,
    })
}

fn page(transaction: &Transaction<'_>, filter: &JobFilter) -> Result<JobPage, Trouble> {
    let limit = filter.limit.min(PAGE);
    let mut jobs = if filter.phases.is_empty() {
        jobs_of(transaction, filter, None, limit)?
    } else {
        let mut phases = filter.phases.clone();
        phases.sort_unstable();
        phases.dedup();
        let mut jobs = Vec::new();
        for phase in phases {
            jobs.extend(jobs_of(transaction, filter, Some(phase), limit)?);
        }
        jobs.sort_unstable_by_key(|job| std::cmp::Reverse(job.job));
        jobs
    };
    let more = jobs.len() > limit;
    jobs.truncate(limit);
    Ok(JobPage { jobs, more })
}

/// The newest jobs of a phase, or of all: one more than asked for, to see whether there are more.
fn jobs_of(
    transaction: &Transaction<'_>,
    filter: &JobFilter,
    phase: Option<Phase>,
    limit: usize,
) -> Result<Vec<JobSummary>, Trouble> {
    let sql = match phase {
        None => sql!("list", "all"),
        Some(Phase::Queued) => sql!("list", "queued"),
        Some(Phase::RetryWait) => sql!("list", "retry_wait"),
        Some(Phase::Running | Phase::Cancelling) => sql!("list", "running"),
        Some(Phase::Succeeded | Phase::Failed | Phase::Cancelled) => sql!("list", "ended"),
    };
    let params = named_params! {
        ":phase": phase.map(Phase::name),
        ":kind": filter.kind,
        ":queue": filter.queue,
        ":before": filter.before.map(JobId::to_bytes),
        ":limit": limit_column(limit + 1),
    };
    transaction.rows(sql, params, summary)
}

fn view(transaction: &Transaction<'_>, job: JobId) -> Result<Option<JobView>, Trouble> {
    let params = named_params! {":job": job.to_bytes()};
    let read = |row: &Row<'_>| {
        let summary = summary(row)?;
        let text: Option<String> = row.get("spec")?;
        // A row that cannot be decoded is shown all the same: somebody has to see why it was set aside.
        let spec = column::spec(text.as_deref()).unwrap_or_else(|_| JobSpec {
            kind: summary.kind.clone(),
            queue: summary.queue.clone(),
            priority: summary.priority,
            max_attempts: summary.max_attempts,
            ..JobSpec::default()
        });
        let retry_of = column::maybe_id(row, "retry_of")?.map(JobId::from_bytes);
        Ok(JobView {
            summary,
            spec,
            retry_of,
            revision: column::count(row, "revision")?,
            attempts: Vec::new(),
            result: None,
            checkpoint_revision: column::count(row, "checkpoint_revision")?,
        })
    };
    let Some(mut view) = transaction.row(sql!("job", "job"), params, read)? else { return Ok(None) };
    view.attempts = transaction.rows(sql!("job", "attempts"), params, attempt)?;
    view.result = result(transaction, job)?;
    Ok(Some(view))
}

fn attempt(row: &Row<'_>) -> Result<AttemptView, Trouble> {
    let verdict: Option<String> = row.get("verdict")?;
    Ok(AttemptView {
        attempt: AttemptId::from_bytes(column::id(row, "attempt")?),
        token: Token(row.get("token")?),
        worker: Incarnation::from_bytes(column::id(row, "worker")?),
        started_at: column::time(row, "started_at")?,
        ended_at: column::maybe_time(row, "ended_at")?,
        verdict: verdict.as_deref().map(column::verdict).transpose()?,
        error: row.get("error")?,
        exit: column::exit(row)?,
        resumed_from: column::count(row, "resumed_from")?,
    })
}

fn result(transaction: &Transaction<'_>, job: JobId) -> Result<Option<PublishedResult>, Trouble> {
    transaction.row(sql!("result"), named_params! {":job": job.to_bytes()}, |row| {
        let gone = || Trouble::BadRow("the result has no manifest".to_owned());
        Ok(PublishedResult {
            job,
            attempt: AttemptId::from_bytes(column::id(row, "attempt")?),
            token: Token(row.get("token")?),
            record: ResultRecord {
                manifest: column::document_column(row, "manifest")?.ok_or_else(gone)?,
                digest: row.get("digest")?,
                files: column::count(row, "files")?,
                bytes: column::count(row, "bytes")?,
            },
            at: column::time(row, "at")?,
        })
    })
}

#[async_trait]
impl Listing for SqliteReads {
    async fn list(&self, filter: &JobFilter) -> Result<JobPage, Fault> {
        let filter = filter.clone();
        self.people.read("list jobs", move |transaction| page(transaction, &filter)).await
    }

    async fn job(&self, job: JobId) -> Result<Option<JobView>, Fault> {
        self.people.read("read a job", move |transaction| view(transaction, job)).await
    }

    async fn counts(&self) -> Result<Vec<PhaseCount>, Fault> {
        let work = |transaction: &Transaction<'_>| {
            transaction.rows(sql!("counts"), &[], |row| {
                Ok(PhaseCount {
                    queue: row.get("queue")?,
                    phase: column::phase(row, "phase")?,
                    jobs: column::count(row, "jobs")?,
                })
            })
        };
        self.people.read("count jobs", work).await
    }

    async fn result(&self, job: JobId) -> Result<Option<PublishedResult>, Fault> {
        self.people.read("read a result", move |transaction| result(transaction, job)).await
    }
}

#[async_trait]
impl Listing for SqliteRoom {
    async fn list(&self, filter: &JobFilter) -> Result<JobPage, Fault> {
        self.reads.list(filter).await
    }

    async fn job(&self, job: JobId) -> Result<Option<JobView>, Fault> {
        self.reads.job(job).await
    }

    async fn counts(&self) -> Result<Vec<PhaseCount>, Fault> {
        self.reads.counts().await
    }

    async fn result(&self, job: JobId) -> Result<Option<PublishedResult>, Fault> {
        self.reads.result(job).await
    }
}
