//! The port's reads for people: lists, one job, counts, results.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, JobId, JobSpec, Phase, Priority, Timestamp, Token};
use rusqlite::{Row, named_params};

use super::section::sql;
use super::transaction::Transaction;
use super::trouble::Trouble;
use super::{SqliteReads, SqliteRoom, column};
use crate::form::{self, limit_column};
use crate::{
    AttemptView, EndCount, JobFilter, JobPage, JobSummary, JobView, Listing, PhaseCount, PublishedResult,
    ResultRecord,
};

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
    let mut walks = Vec::new();
    for phase in form::walks(filter) {
        let reach = reach(transaction, filter, phase)?;
        walks.push((jobs_of(transaction, filter, phase, reach)?, reach));
    }
    Ok(form::page(filter, walks))
}

/// The statement of a list or of its reach: the jobs of a phase, or of all.
fn walk(head: &str, phase: Option<Phase>, tail: &str) -> String {
    let of = match phase {
        None => sql!("list", "all"),
        Some(Phase::Queued) => sql!("list", "queued"),
        Some(Phase::RetryWait) => sql!("list", "retry_wait"),
        Some(Phase::Running | Phase::Cancelling) => sql!("list", "running"),
        Some(Phase::Succeeded | Phase::Failed | Phase::Cancelled) => sql!("list", "ended"),
    };
    format!("{head}{of}{tail}")
}

/// Every list and its reach, composed.
#[cfg(test)]
pub(super) fn lists() -> Vec<String> {
    let walks =
        [None, Some(Phase::Queued), Some(Phase::RetryWait), Some(Phase::Running), Some(Phase::Failed)];
    let list = |phase| walk(sql!("list", "head"), phase, sql!("list", "tail"));
    walks.into_iter().flat_map(|phase| [list(phase), walk(REACH, phase, sql!("list", "reach"))]).collect()
}

/// The head of a reach.
const REACH: &str = "SELECT s.job\n";

/// The last job that one page looks at, where there are so many and not all of them are asked for.
fn reach(
    transaction: &Transaction<'_>,
    filter: &JobFilter,
    phase: Option<Phase>,
) -> Result<Option<JobId>, Trouble> {
    if filter.takes_all() {
        return Ok(None);
    }
    let params = named_params! {
        ":phase": phase.map(Phase::name),
        ":before": filter.before.map(JobId::to_bytes),
        ":skip": limit_column(filter.scan.saturating_sub(1)),
    };
    let sql = walk(REACH, phase, sql!("list", "reach"));
    transaction.row(&sql, params, |row| Ok(JobId::from_bytes(column::id(row, "job")?)))
}

/// The newest jobs of a phase, or of all: one more than asked for, to see whether there are more.
fn jobs_of(
    transaction: &Transaction<'_>,
    filter: &JobFilter,
    phase: Option<Phase>,
    reach: Option<JobId>,
) -> Result<Vec<JobSummary>, Trouble> {
    let ids = |worker: &Incarnation| format!("{:032X}", worker.0);
    let workers: Vec<_> = filter.workers.iter().map(ids).collect();
    let workers = (!workers.is_empty()).then(|| serde_json::Value::from(workers).to_string());
    let params = named_params! {
        ":phase": phase.map(Phase::name),
        ":kind": filter.kind,
        ":queue": filter.queue,
        ":workers": workers,
        ":created_from": filter.created_from.map(|at| at.0),
        ":created_until": filter.created_until.map(|at| at.0),
        ":text": filter.text,
        ":before": filter.before.map(JobId::to_bytes),
        ":floor": reach.map(JobId::to_bytes),
        ":limit": limit_column(form::page_limit(filter) + 1),
    };
    transaction.rows(&walk(sql!("list", "head"), phase, sql!("list", "tail")), params, summary)
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

    async fn oldest_waiting(&self) -> Result<Option<JobSummary>, Fault> {
        let work = |transaction: &Transaction<'_>| {
            let params = named_params! {":now": transaction.now.0};
            let job = transaction.row(sql!("windows" + "oldest_waiting"), params, |row| {
                Ok(JobId::from_bytes(column::id(row, "job")?))
            })?;
            let Some(job) = job else { return Ok(None) };
            Ok(view(transaction, job)?.map(|view| view.summary))
        };
        self.people.read("find the job that waits longest", work).await
    }

    async fn ends(&self, since: Timestamp) -> Result<Vec<EndCount>, Fault> {
        let work = move |transaction: &Transaction<'_>| {
            let params = named_params! {":since": since.0, ":limit": form::ENDS};
            let read = |row: &Row<'_>| {
                let jobs = column::count(row, "jobs")?;
                Ok(EndCount {
                    minute: form::minute(row.get("minute")?),
                    phase: column::phase(row, "phase")?,
                    jobs,
                })
            };
            Ok(form::whole_minutes(since, transaction.rows(sql!("ends"), params, read)?))
        };
        self.people.read("count ends", work).await
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

    async fn oldest_waiting(&self) -> Result<Option<JobSummary>, Fault> {
        self.reads.oldest_waiting().await
    }

    async fn ends(&self, since: Timestamp) -> Result<Vec<EndCount>, Fault> {
        self.reads.ends(since).await
    }

    async fn result(&self, job: JobId) -> Result<Option<PublishedResult>, Fault> {
        self.reads.result(job).await
    }
}
