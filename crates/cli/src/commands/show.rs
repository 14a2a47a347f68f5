//! `remora show JOB`.

use api::Api;
use api::v1::{Attempt, JobDetail};
use protocol::{JobId, Phase};

use super::follow::{clean, show_progress};
use crate::access::{Site, problem};
use crate::failure::{Failure, code};
use crate::parse::{show_moment, show_ms};
use crate::printer::Printer;

/// A job, or a clear refusal.
pub(crate) async fn detail(api: &dyn Api, job: JobId) -> Result<JobDetail, Failure> {
    api.job(job).await.map_err(|told| {
        let failure = problem(told);
        if failure.code == code::NOT_FOUND {
            return failure.hint("`remora list` shows the jobs there are");
        }
        failure
    })
}

pub(crate) async fn run(site: &Site, job: JobId, printer: &Printer) -> Result<u8, Failure> {
    let api = site.api().await?;
    let detail = detail(api.as_ref(), job).await?;
    if printer.is_json() {
        printer.json(&detail)?;
        return Ok(code::OK);
    }
    for (name, value) in fields(&detail).into_iter().chain(waits(api.as_ref(), &detail).await) {
        printer.line(&format!("{:<14} {value}", printer.paint(name, "2")));
    }
    if !detail.attempts.is_empty() {
        printer.line("");
        let rows = detail.attempts.iter().map(row).collect();
        printer.table(
            &["attempt", "verdict", "worker", "started", "took", "from", "error"],
            rows,
            &[0, 4, 5],
        );
    }
    Ok(code::OK)
}

fn fields(detail: &JobDetail) -> Vec<(&'static str, String)> {
    let job = &detail.job;
    let mut fields = vec![
        ("job", job.job.to_string()),
        ("phase", job.phase.to_string()),
        ("kind", job.kind.clone()),
        ("queue", format!("{} (priority {})", job.queue, job.priority)),
        ("attempts", format!("{} of {}", job.attempt, job.max_attempts)),
        ("created", show_moment(job.created_at.0)),
    ];
    if job.due_at > job.created_at && !job.phase.is_terminal() {
        fields.push(("due", show_moment(job.due_at.0)));
    }
    if let Some(finished) = job.finished_at {
        fields.push(("finished", show_moment(finished.0)));
    }
    if let Some(progress) = &job.progress {
        fields.push(("progress", show_progress(progress)));
    }
    if let Some(checkpoint) = &detail.checkpoint {
        let at = show_moment(checkpoint.at.0);
        fields
            .push(("checkpoint", format!("#{} of attempt {}, {at}", checkpoint.sealed, checkpoint.attempt)));
    }
    if let Some(program) = &detail.program {
        fields.push(("command", clean(&program.argv.join(" "))));
    }
    if detail.args.get() != "null" {
        fields.push(("args", clean(&detail.args.get().chars().take(200).collect::<String>())));
    }
    if let Some(job) = detail.retry_of {
        fields.push(("retry of", job.to_string()));
    }
    if let Some(reason) = &job.set_aside {
        fields.push(("set aside", clean(reason)));
    }
    if let Some(path) = detail.result.as_ref().and_then(|result| result.path.as_ref()) {
        fields.push(("result", clean(path)));
    }
    fields
}

/// That nothing of a paused queue starts.
async fn waits(api: &dyn Api, detail: &JobDetail) -> Option<(&'static str, String)> {
    let queue = &detail.job.queue;
    if detail.job.phase != Phase::Queued {
        return None;
    }
    // A line more; what is known of the job is shown without it, too.
    let pool = api.pool().await.ok()?;
    let is_paused = pool.paused.contains(queue);
    is_paused.then(|| ("waits", format!("{queue} is paused; `remora queues resume {queue}` lets it go on")))
}

fn row(attempt: &Attempt) -> Vec<String> {
    let took = attempt.ended_at.map(|end| show_ms(end.0.since_ms(attempt.started_at.0))).unwrap_or_default();
    let error =
        attempt.error.as_deref().map(|error| clean(error.lines().next().unwrap_or(""))).unwrap_or_default();
    let from =
        if attempt.resumed_from == 0 { "start".to_owned() } else { format!("#{}", attempt.resumed_from) };
    vec![
        attempt.attempt.to_string(),
        attempt.verdict.clone(),
        attempt.worker_name.clone().unwrap_or_else(|| attempt.worker.to_string()),
        show_moment(attempt.started_at.0),
        took,
        from,
        error,
    ]
}
