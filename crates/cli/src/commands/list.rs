//! `remora list`.

use api::v1::{Job, JobQuery};
use protocol::Phase;

use super::follow::{clean, show_progress};
use crate::access::{Site, problem};
use crate::args::ListArgs;
use crate::failure::{Failure, code};
use crate::parse::show_moment;
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: ListArgs, printer: &Printer) -> Result<u8, Failure> {
    let query = JobQuery {
        phase: args.phase,
        kind: args.kind,
        queue: args.queue,
        worker: args.worker,
        created_from: args.since.map(Into::into),
        created_until: args.until.map(Into::into),
        text: args.text,
        cursor: args.before.map(|job| job.to_string()),
        limit: Some(args.limit),
    };
    let page = site.api().await?.jobs(&query).await.map_err(problem)?;
    if printer.is_json() {
        printer.json(&page)?;
        return Ok(code::OK);
    }
    if page.items.is_empty() {
        printer.remark(if page.next.is_some() { "none yet" } else { "no jobs" });
    } else {
        let rows = page.items.iter().map(row).collect();
        printer.table(&["job", "phase", "kind", "queue", "attempt", "created", "what"], rows, &[4]);
    }
    if let Some(next) = page.next {
        printer.hint(&format!("there are more to look at: add --before {next}"));
    }
    Ok(code::OK)
}

fn row(job: &Job) -> Vec<String> {
    let what: String = clean(what(job).lines().next().unwrap_or("")).chars().take(60).collect();
    vec![
        job.job.to_string(),
        job.phase.to_string(),
        job.kind.clone(),
        job.queue.clone(),
        format!("{}/{}", job.attempt, job.max_attempts),
        show_moment(job.created_at.0),
        what,
    ]
}

/// What a person looks for: why it is stuck or failed, else which job this is and how far it is.
fn what(job: &Job) -> String {
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
    let due = waits.then(|| format!("due {}", show_moment(job.due_at.0)));
    command.into_iter().chain(progress).chain(due).collect::<Vec<_>>().join("  ")
}
