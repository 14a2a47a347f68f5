//! `remora show JOB`.

use durable::{AttemptView, JobView, ProgramExit};
use protocol::{JobId, Phase};
use serde_json::json;

use super::follow::{clean, local_result, show_progress, verdict_word};
use super::list::summary;
use crate::access::{Readers, Site};
use crate::failure::{Failure, code};
use crate::parse::{moment_value, show_moment, show_ms};
use crate::printer::Printer;

/// A job, or a clear refusal.
pub(crate) async fn job_view(readers: &Readers, job: JobId) -> Result<JobView, Failure> {
    let view = readers.listing().job(job).await?;
    view.ok_or_else(|| {
        Failure::new(code::NOT_FOUND, format!("there is no job {job}"))
            .hint("`remora list` shows the jobs of a data folder")
    })
}

pub(crate) async fn run(site: &Site, job: JobId, printer: &Printer) -> Result<u8, Failure> {
    let readers = site.readers().await?;
    let view = job_view(&readers, job).await?;
    let path = local_result(site.target().await?.as_ref(), &view);
    if printer.is_json() {
        printer.json(&whole(&view, path.as_deref()))?;
        return Ok(code::OK);
    }
    for (name, value) in fields(&view).into_iter().chain(waits(&readers, &view).await) {
        printer.line(&format!("{:<14} {value}", printer.paint(name, "2")));
    }
    if let Some(path) = path {
        printer.line(&format!("{:<14} {}", printer.paint("result", "2"), path.display()));
    }
    if !view.attempts.is_empty() {
        printer.line("");
        let rows = view.attempts.iter().map(row).collect();
        printer.table(
            &["attempt", "verdict", "worker", "started", "took", "from", "error"],
            rows,
            &[0, 4, 5],
        );
    }
    Ok(code::OK)
}

fn fields(view: &JobView) -> Vec<(&'static str, String)> {
    let summary = &view.summary;
    let mut fields = vec![
        ("job", summary.job.to_string()),
        ("phase", summary.phase.to_string()),
        ("kind", summary.kind.clone()),
        ("queue", format!("{} (priority {})", summary.queue, summary.priority.0)),
        ("attempts", format!("{} of {}", summary.token, summary.max_attempts)),
        ("created", show_moment(summary.created_at)),
    ];
    if summary.due_at > summary.created_at && !summary.phase.is_terminal() {
        fields.push(("due", show_moment(summary.due_at)));
    }
    if let Some(finished) = summary.finished_at {
        fields.push(("finished", show_moment(finished)));
    }
    if let Some(progress) = &summary.progress {
        fields.push(("checkpoint", show_progress(progress)));
    }
    if let Some(command) = &view.spec.command {
        fields.push(("command", clean(&command.argv.join(" "))));
    }
    if view.spec.args != "null" {
        fields.push(("args", clean(&view.spec.args.chars().take(200).collect::<String>())));
    }
    if let Some(job) = view.retry_of {
        fields.push(("retry of", job.to_string()));
    }
    if let Some(reason) = &summary.set_aside {
        fields.push(("set aside", clean(reason)));
    }
    fields
}

/// That nothing of a paused queue starts.
async fn waits(readers: &Readers, view: &JobView) -> Option<(&'static str, String)> {
    let queue = &view.summary.queue;
    if view.summary.phase != Phase::Queued {
        return None;
    }
    // A line more; what is known of the job is shown without it, too.
    let pool = readers.reads().pool().await.ok()?;
    let is_paused = pool.paused.contains(queue);
    is_paused.then(|| ("waits", format!("{queue} is paused; `remora queues resume {queue}` lets it go on")))
}

fn row(attempt: &AttemptView) -> Vec<String> {
    let took = attempt.ended_at.map(|end| show_ms(end.since_ms(attempt.started_at))).unwrap_or_default();
    let error =
        attempt.error.as_deref().map(|error| clean(error.lines().next().unwrap_or(""))).unwrap_or_default();
    let from =
        if attempt.resumed_from == 0 { "start".to_owned() } else { format!("#{}", attempt.resumed_from) };
    vec![
        attempt.token.to_string(),
        verdict_word(attempt.verdict).to_owned(),
        attempt.worker.to_string(),
        show_moment(attempt.started_at),
        took,
        from,
        error,
    ]
}

fn whole(view: &JobView, path: Option<&std::path::Path>) -> serde_json::Value {
    let attempts: Vec<_> = view.attempts.iter().map(attempt).collect();
    let args = serde_json::value::RawValue::from_string(view.spec.args.clone()).ok();
    let mut whole = summary(&view.summary);
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("args_text".to_owned(), json!(args.map(|args| args.get().to_owned())));
        fields.insert("retry_of".to_owned(), json!(view.retry_of));
        fields.insert("command".to_owned(), json!(view.spec.command));
        fields.insert("timeout_ms".to_owned(), json!(view.spec.timeout_ms));
        fields.insert("checkpoint_revision".to_owned(), json!(view.checkpoint_revision));
        fields.insert("attempts".to_owned(), json!(attempts));
        fields.insert("result".to_owned(), result(view, path));
    }
    whole
}

fn result(view: &JobView, path: Option<&std::path::Path>) -> serde_json::Value {
    view.result.as_ref().map_or(serde_json::Value::Null, |result| {
        json!({
            "attempt": result.token,
            "files": result.record.files,
            "bytes": result.record.bytes,
            "published_at": moment_value(result.at),
            "path": path,
        })
    })
}

fn attempt(attempt: &AttemptView) -> serde_json::Value {
    let (exit_code, signal) = match attempt.exit {
        Some(ProgramExit::Code(code)) => (Some(code), None),
        Some(ProgramExit::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    json!({
        "attempt": attempt.token,
        "attempt_id": attempt.attempt,
        "worker": attempt.worker,
        "verdict": verdict_word(attempt.verdict),
        "started_at": moment_value(attempt.started_at),
        "ended_at": attempt.ended_at.map(moment_value),
        "resumed_from": attempt.resumed_from,
        "exit_code": exit_code,
        "signal": signal,
        "error": attempt.error,
    })
}
