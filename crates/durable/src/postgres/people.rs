//! The port's reads for people: lists, one job, counts, results. They have connections of their own, so that a long
//! list holds up no agent.

use async_trait::async_trait;
use protocol::{AttemptId, Fault, Incarnation, JobId, JobSpec, Phase, Priority, Timestamp};
use tokio_postgres::Row;

use super::PostgresRoom;
use super::column::{self, get};
use super::params::Params;
use super::reads::each;
use super::statements::Statements;
use super::trouble::Trouble;
use crate::form::{self, limit_column};
use crate::{
    AttemptView, EndCount, JobFilter, JobPage, JobSummary, JobView, Listing, PhaseCount, PublishedResult,
};

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

/// The statements that walk over the jobs of a phase, or of all: the list, and how far one page of it looks.
fn walk(statements: &Statements, phase: Option<Phase>) -> (&str, &str) {
    match phase {
        None => (&statements.list_all, &statements.reach_all),
        Some(Phase::Queued) => (&statements.list_queued, &statements.reach_queued),
        Some(Phase::RetryWait) => (&statements.list_retry_wait, &statements.reach_retry_wait),
        Some(Phase::Running | Phase::Cancelling) => (&statements.list_running, &statements.reach_running),
        Some(Phase::Succeeded | Phase::Failed | Phase::Cancelled) => {
            (&statements.list_ended, &statements.reach_ended)
        }
    }
}

/// What every walk begins with: $1 phase, $2 before.
fn beginning(filter: &JobFilter, phase: Option<Phase>) -> Params {
    Params::new()
        .text(phase.map(|phase| phase.name().to_owned()))
        .maybe_id(filter.before.map(JobId::to_bytes))
}

impl PostgresRoom {
    /// The last job that one page looks at, where there are so many and not all of them are asked for.
    async fn reach(&self, filter: &JobFilter, phase: Option<Phase>) -> Result<Option<JobId>, Fault> {
        if filter.takes_all() {
            return Ok(None);
        }
        let params = beginning(filter, phase).big(limit_column(filter.scan.saturating_sub(1)));
        let read = |rows: &[Row]| rows.first().map(column::job).transpose();
        self.people.read("list jobs", (walk(&self.desk.statements, phase).1, params), read).await
    }

    /// The newest jobs of a phase, or of all: one more than asked for, to see whether there are more.
    async fn jobs_of(
        &self,
        filter: &JobFilter,
        phase: Option<Phase>,
        reach: Option<JobId>,
    ) -> Result<Vec<JobSummary>, Fault> {
        let workers: Vec<_> = filter.workers.iter().map(|worker| worker.to_bytes()).collect();
        let params = beginning(filter, phase)
            .maybe_id(reach.map(JobId::to_bytes))
            .text(filter.kind.clone())
            .text(filter.queue.clone())
            .maybe_big(filter.created_from.map(|at| at.0))
            .maybe_big(filter.created_until.map(|at| at.0))
            .ids_or_nothing((!workers.is_empty()).then_some(workers))
            .text(filter.text.clone())
            .big(limit_column(form::page_limit(filter) + 1));
        let ask = (walk(&self.desk.statements, phase).0, params);
        self.people.read("list jobs", ask, each(summary)).await
    }
}

#[async_trait]
impl Listing for PostgresRoom {
    async fn list(&self, filter: &JobFilter) -> Result<JobPage, Fault> {
        // No stored text holds a NUL, and the server takes none.
        if filter.kind.iter().chain(&filter.queue).chain(&filter.text).any(|text| text.contains('\0')) {
            return Ok(JobPage { jobs: Vec::new(), next: None });
        }
        let mut walks = Vec::new();
        for phase in form::walks(filter) {
            let reach = self.reach(filter, phase).await?;
            walks.push((self.jobs_of(filter, phase, reach).await?, reach));
        }
        Ok(form::page(filter, walks))
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

    async fn oldest_waiting(&self) -> Result<Option<JobSummary>, Fault> {
        let ask = (&*self.desk.statements.oldest_waiting, Params::new().now(self.desk.now()));
        let read = |rows: &[Row]| rows.first().map(column::job).transpose();
        let Some(job) = self.people.read("find the job that waits longest", ask, read).await? else {
            return Ok(None);
        };
        Ok(self.job(job).await?.map(|view| view.summary))
    }

    async fn ends(&self, since: Timestamp) -> Result<Vec<EndCount>, Fault> {
        let read = |row: &Row| {
            let jobs = column::count(row, "jobs")?;
            Ok(EndCount {
                minute: form::minute(get(row, "minute")?),
                phase: column::phase(row, "phase")?,
                jobs,
            })
        };
        let ask = (&*self.desk.statements.ends, Params::new().big(since.0).big(form::ENDS));
        Ok(form::whole_minutes(since, self.people.read("count ends", ask, each(read)).await?))
    }

    async fn result(&self, job: JobId) -> Result<Option<PublishedResult>, Fault> {
        let ask = (&*self.desk.statements.result, Params::new().id(job.to_bytes()));
        let read = |rows: &[Row]| rows.first().map(|row| published(job, row)).transpose();
        self.people.read("read a result", ask, read).await
    }
}
