//! Submit, cancel, retry.

use durable::{RequestCancel, Retry, Submit};
use protocol::job::check_size;
use protocol::{Command, Guard, JobId, JobSpec, Priority, RetryPolicy, Violation, limit};

use super::Direct;
use super::trouble::{answered, short};
use crate::port::Answer;
use crate::text::check_strings;
use crate::v1::{Cancelled, Code, Item, Problem, Retried, RetriedAs, Submission, Submitted};

/// The job that a submission asks for, checked whole.
pub(crate) fn job_spec(submission: Submission) -> Answer<JobSpec> {
    let usual = JobSpec::default();
    let args = submission.args.map_or_else(|| "null".to_owned(), |args| args.get().to_owned());
    check_size("args", args.len(), limit::ARGS_BYTES)?;
    check_strings(&args).map_err(|why| Violation {
        field: "args".to_owned(),
        value: why.to_owned(),
        allowed: "JSON whose texts are Unicode without NUL".to_owned(),
    })?;
    let command = submission.command.map(|argv| Command {
        argv,
        cwd: submission.cwd,
        env: submission.env.into_iter().collect(),
    });
    if command.is_none() && submission.kind.is_none() {
        return Err(Violation {
            field: "command".to_owned(),
            value: "absent".to_owned(),
            allowed: "a program and its words, or a kind that a worker serves".to_owned(),
        }
        .into());
    }
    let spec = JobSpec {
        kind: submission.kind.unwrap_or(usual.kind),
        queue: submission.queue.unwrap_or(usual.queue),
        priority: submission.priority.map_or(usual.priority, Priority),
        args,
        command,
        max_attempts: submission.max_attempts.unwrap_or(usual.max_attempts),
        scheduled_at: submission.scheduled_at.map(|at| at.0),
        timeout_ms: submission.timeout_ms,
        retry: RetryPolicy {
            base_ms: submission.retry_base_ms.unwrap_or(usual.retry.base_ms),
            cap_ms: submission.retry_cap_ms.unwrap_or(usual.retry.cap_ms),
        },
        idempotency_key: submission.idempotency_key,
    };
    spec.validate()?;
    Ok(spec)
}

/// Checks a submission whole, before anything is done for it.
///
/// # Errors
/// The first field that is wrong.
pub fn check(submission: &Submission) -> Answer<()> {
    job_spec(submission.clone()).map(drop)
}

fn refused_submission(guard: Guard) -> Problem {
    match guard {
        Guard::SameRequest => Problem {
            guard: Some(guard.name().into()),
            ..Problem::new(Code::KeyReused, "idempotency_key stands for another request already")
        }
        .hint("use another key, or submit exactly what was submitted with it"),
        guard => Problem::refused(guard, format!("refused: {guard}")),
    }
}

fn refused_cancel(job: JobId, guard: Guard) -> Problem {
    match guard {
        Guard::Cancellable => {
            Problem::refused(guard, format!("{job} has ended already and cannot be cancelled"))
        }
        guard => Problem::refused(guard, format!("{job} cannot be cancelled: {guard}")),
    }
}

fn refused_retry(job: JobId, guard: Guard) -> Problem {
    match guard {
        Guard::Cancellable => {
            Problem::refused(guard, format!("{job} has succeeded; there is nothing to retry"))
        }
        Guard::Terminal => Problem::refused(
            guard,
            format!("{job} is under way; it can be retried when it waits or has ended"),
        ),
        guard => Problem::refused(guard, format!("{job} cannot be retried: {guard}")),
    }
}

fn retried(job: JobId, effect: durable::Retried) -> Retried {
    let (retried, now) = match effect {
        durable::Retried::DueNow => (RetriedAs::DueNow, job),
        durable::Retried::Offered => (RetriedAs::Offered, job),
        durable::Retried::NewJob(new) => (RetriedAs::NewJob, new),
    };
    Retried { job, retried, now }
}

/// That a batch is not longer than allowed.
fn check_batch(elements: usize) -> Answer<()> {
    if u64::try_from(elements).is_ok_and(|elements| elements <= limit::BATCH_JOBS) {
        return Ok(());
    }
    Err(Violation {
        field: "jobs".to_owned(),
        value: format!("{elements} jobs"),
        allowed: format!("at most {} jobs", limit::BATCH_JOBS),
    }
    .into())
}

impl Direct {
    pub(super) async fn accept(&self, jobs: Vec<Submission>) -> Answer<Vec<Item<Submitted>>> {
        check_batch(jobs.len())?;
        let specs: Vec<Answer<JobSpec>> = jobs.into_iter().map(job_spec).collect();
        let good = specs.iter().filter_map(|spec| spec.as_ref().ok());
        let batch: Vec<Submit> = good
            .map(|spec| Submit { job: self.runtime.new_job_id(), spec: spec.clone(), retry_of: None })
            .collect();
        let sent = self.caller.send();
        let answers = match batch.is_empty() {
            true => Vec::new(),
            false => sent.of(self.durable()?.submit(&sent.origin, &batch)).await?,
        };
        let mut answers = batch.iter().map(|submit| submit.job).zip(answers);
        let items: Vec<Item<Submitted>> = specs
            .into_iter()
            .map(|spec| {
                spec.and_then(|_| {
                    let (job, answer) = answers.next().ok_or_else(short)?;
                    let done = answered(job, answer, refused_submission)?;
                    Ok(Submitted { job: done.job, existed: done.existed, phase: done.phase })
                })
                .into()
            })
            .collect();
        self.nudge(items.iter().filter_map(|item| match item {
            Item::Done(done) => Some(done.job),
            Item::Problem(_) => None,
        }))
        .await;
        Ok(items)
    }

    pub(super) async fn request_cancels(&self, jobs: &[JobId]) -> Answer<Vec<Item<Cancelled>>> {
        check_batch(jobs.len())?;
        let batch: Vec<_> = jobs.iter().map(|job| RequestCancel { job: *job }).collect();
        let sent = self.caller.send();
        let answers = sent.of(self.durable()?.request_cancel(&sent.origin, &batch)).await?;
        let items = jobs
            .iter()
            .zip(answers)
            .map(|(job, answer)| {
                let done = answered(*job, answer, |guard| refused_cancel(*job, guard));
                done.map(|done| Cancelled { job: *job, phase: done.phase }).into()
            })
            .collect();
        self.nudge(jobs.iter().copied()).await;
        Ok(items)
    }

    pub(super) async fn retry_all(&self, jobs: &[JobId]) -> Answer<Vec<Item<Retried>>> {
        check_batch(jobs.len())?;
        let batch: Vec<_> =
            jobs.iter().map(|job| Retry { job: *job, new_job: self.runtime.new_job_id() }).collect();
        let sent = self.caller.send();
        let answers = sent.of(self.durable()?.retry(&sent.origin, &batch)).await?;
        let items: Vec<Item<Retried>> = jobs
            .iter()
            .zip(answers)
            .map(|(job, answer)| {
                answered(*job, answer, |guard| refused_retry(*job, guard))
                    .map(|done| retried(*job, done))
                    .into()
            })
            .collect();
        self.nudge(items.iter().filter_map(|item| match item {
            Item::Done(done) => Some(done.now),
            Item::Problem(_) => None,
        }))
        .await;
        Ok(items)
    }

    /// A hint: the agents look anyway.
    async fn nudge(&self, jobs: impl Iterator<Item = JobId>) {
        let jobs: Vec<_> = jobs.collect();
        if let Some(coordination) = self.rooms.coordination.as_ref().filter(|_| !jobs.is_empty()) {
            let _ = coordination.nudge(&jobs).await;
        }
    }
}
