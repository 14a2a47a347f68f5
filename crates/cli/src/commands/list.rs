//! `remora list`.

use durable::{JobFilter, JobSummary};
use protocol::Phase;
use serde_json::json;

use super::follow::{clean, show_progress};
use crate::access::Site;
use crate::args::ListArgs;
use crate::failure::{Failure, code};
use crate::parse::{moment_value, show_moment};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: ListArgs, printer: &Printer) -> Result<u8, Failure> {
    let readers = site.readers().await?;
    let filter = JobFilter {
        phases: args.phase,
        kind: args.kind,
        queue: args.queue,
        before: args.before,
        limit: usize::try_from(args.limit)?,
        ..JobFilter::default()
    };
    let page = readers.listing().list(&filter).await?;
    if printer.is_json() {
        let jobs: Vec<_> = page.jobs.iter().map(summary).collect();
        printer.json(&json!({ "jobs": jobs, "more": page.next.is_some() }))?;
        return Ok(code::OK);
    }
    if page.jobs.is_empty() {
        printer.remark("no jobs");
        return Ok(code::OK);
    }
    let rows = page.jobs.iter().map(row).collect();
    printer.table(&["job", "phase", "kind", "queue", "attempt", "created", "what"], rows, &[4]);
    if let Some(next) = page.next {
        printer.hint(&format!("there are more: remora list --before {next}"));
    }
    Ok(code::OK)
}

fn row(job: &JobSummary) -> Vec<String> {
    let what: String = clean(what(job).lines().next().unwrap_or("")).chars().take(60).collect();
    vec![
        job.job.to_string(),
        job.phase.to_string(),
        job.kind.clone(),
        job.queue.clone(),
        format!("{}/{}", job.token, job.max_attempts),
        show_moment(job.created_at),
        what,
    ]
}

/// What a person looks for: why it is stuck or failed, else which job this is and how far it is.
fn what(job: &JobSummary) -> String {
    if let Some(reason) = &job.set_aside {
        return format!("set aside: {reason}");
    }
    if let Some(error) =
        job.error.as_ref().filter(|_| !matches!(job.phase, Phase::Succeeded | Phase::Running))
    {
        return error.clone();
    }
    let command = job.command.as_ref().map(|words| words.join(" "));
    let progress = job.progress.as_ref().filter(|progress| progress.done > 0).map(show_progress);
    let waits = job.due_at > job.created_at && matches!(job.phase, Phase::Queued | Phase::RetryWait);
    let due = waits.then(|| format!("due {}", show_moment(job.due_at)));
    command.into_iter().chain(progress).chain(due).collect::<Vec<_>>().join("  ")
}

/// A job in a list, for programs.
pub(crate) fn summary(job: &JobSummary) -> serde_json::Value {
    json!({
        "job": job.job,
        "phase": job.phase,
        "kind": job.kind,
        "queue": job.queue,
        "priority": job.priority,
        "attempt": job.token,
        "max_attempts": job.max_attempts,
        "created_at": moment_value(job.created_at),
        "due_at": moment_value(job.due_at),
        "finished_at": job.finished_at.map(moment_value),
        "progress": job.progress,
        "error": job.error,
        "command": job.command,
        "set_aside": job.set_aside,
    })
}
