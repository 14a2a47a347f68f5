//! Following one job: its log, its progress, its end.

use std::pin::pin;
use std::time::Duration;

use api::v1::{Job, JobDetail, Problem, Progress};
use api::{Answer, Api};
use futures_util::{Stream, StreamExt as _, stream};
use indicatif::ProgressBar;
use protocol::{JobId, Phase};
use tokio::sync::mpsc;

use crate::access::problem;
use crate::failure::{Failure, code};
use crate::parse::show_ms;
use crate::printer::Printer;

/// The attempts of a job, one after another as they begin, those of the past too, until it has ended.
pub(crate) async fn jobs_attempts(
    api: &dyn Api,
    job: JobId,
) -> Result<impl Stream<Item = Result<u32, Failure>>, Failure> {
    let events = api.watch(job).await.map_err(problem)?;
    let begun = events.scan(0, |seen, event| {
        let new = match event {
            Ok(event) => {
                let last = event.job.map_or(*seen, |job| job.attempt);
                let new: Vec<_> = (*seen + 1..=last).map(Ok).collect();
                *seen = last.max(*seen);
                new
            }
            Err(told) => vec![Err(problem(told))],
        };
        std::future::ready(Some(stream::iter(new)))
    });
    Ok(begun.flatten())
}

/// Follows a job to its end; bar and log go to standard error.
pub(crate) async fn follow(api: &dyn Api, job: JobId, printer: &Printer) -> Answer<JobDetail> {
    let bar = printer.bar();
    bar.enable_steady_tick(Duration::from_millis(120));
    bar.set_prefix("queued");
    let (begun, attempts) = mpsc::unbounded_channel();
    let looking = look(api, job, (&bar, printer), begun);
    let (end, ()) = tokio::join!(looking, logs(api, job, (&bar, printer), attempts));
    bar.finish_and_clear();
    end?;
    api.job(job).await
}

/// Shows each change until the job has ended; tells of attempts as they begin.
async fn look(
    api: &dyn Api,
    job: JobId,
    (bar, printer): (&ProgressBar, &Printer),
    begun: mpsc::UnboundedSender<u32>,
) -> Answer<()> {
    let mut events = api.watch(job).await?;
    let (mut seen, mut told) = (0, 0);
    while let Some(event) = events.next().await {
        let event = event?;
        let Some(job) = event.job else {
            if event.text.is_some() {
                return Err(Problem::new(api::v1::Code::Unavailable, event.text.unwrap_or_default()));
            }
            continue;
        };
        for attempt in seen + 1..=job.attempt {
            // Nobody listens any more only when nobody reads the log.
            let _ = begun.send(attempt);
        }
        seen = job.attempt.max(seen);
        describe(bar, &job);
        if let Some(ended) = ended_attempt(&job).filter(|ended| *ended > told) {
            told = ended;
            note_end(api, &job, (bar, printer)).await;
        }
    }
    Ok(())
}

/// Prints the attempts' logs, one after another, as they grow.
async fn logs(
    api: &dyn Api,
    job: JobId,
    (bar, printer): (&ProgressBar, &Printer),
    mut attempts: mpsc::UnboundedReceiver<u32>,
) {
    while let Some(attempt) = attempts.recv().await {
        let pieces = match api.log(job, Some(attempt), true).await {
            Ok(pieces) => pieces,
            Err(told) => {
                tracing::warn!(%told, "cannot read the log");
                continue;
            }
        };
        let mut pieces = pin!(pieces);
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(bytes) => bar.suspend(|| printer.log(&bytes)),
                Err(told) => tracing::warn!(%told, "cannot read the log"),
            }
        }
    }
}

fn describe(bar: &ProgressBar, job: &Job) {
    let attempt = job.attempt;
    let tries = if attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
    bar.set_prefix(format!("{}{tries}", job.phase));
    bar.set_message(job.progress.as_ref().map_or_else(String::new, show_progress));
}

/// `3/10 (30%) message`.
pub(crate) fn show_progress(progress: &Progress) -> String {
    let mut text = match progress.total {
        Some(total) if total > 0 => {
            let percent = u128::from(progress.done) * 100 / u128::from(total);
            format!("{}/{total} ({percent}%)", progress.done)
        }
        _ => progress.done.to_string(),
    };
    if let Some(message) = &progress.message {
        text.push(' ');
        text.push_str(&clean(message));
    }
    text
}

/// Text of a job for a terminal: what would steer it is shown, not obeyed.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(
            |letter| {
                if letter.is_control() && letter != '\n' && letter != '\t' { '\u{fffd}' } else { letter }
            },
        )
        .collect()
}

/// The last attempt that ended without ending the job, as far as the job itself tells.
fn ended_attempt(job: &Job) -> Option<u32> {
    match job.phase {
        Phase::Queued | Phase::RetryWait => Some(job.attempt),
        Phase::Running | Phase::Cancelling => job.attempt.checked_sub(1),
        Phase::Succeeded | Phase::Failed | Phase::Cancelled => None,
    }
    .filter(|attempt| *attempt > 0)
}

/// One line for an attempt that ended without ending the job.
async fn note_end(api: &dyn Api, job: &Job, (bar, printer): (&ProgressBar, &Printer)) {
    let Ok(detail) = api.job(job.job).await else { return };
    let Some(ended) = detail.attempts.iter().rev().find(|attempt| attempt.ended_at.is_some()) else { return };
    let error = ended.error.as_deref().map(|error| clean(error.lines().next().unwrap_or("")));
    let next = if detail.checkpoint.is_some() {
        "the next one goes on from the last checkpoint"
    } else {
        "the next one begins anew"
    };
    let text = format!("attempt {} ended: {}; {next}", ended.attempt, error.unwrap_or_default());
    bar.suspend(|| printer.remark(&printer.paint(&text, "33")));
}

/// The exit code of a job's end.
pub(crate) fn verdict_code(phase: Phase) -> u8 {
    match phase {
        Phase::Succeeded => code::OK,
        Phase::Cancelled => code::CANCELLED,
        Phase::Failed | Phase::Queued | Phase::Running | Phase::RetryWait | Phase::Cancelling => code::FAILED,
    }
}

/// One line that says how a job ended.
pub(crate) fn verdict_line(printer: &Printer, detail: &JobDetail) -> String {
    let job = &detail.job;
    let took = job.finished_at.map(|end| show_ms(end.0.since_ms(job.created_at.0))).unwrap_or_default();
    let attempts = detail.attempts.len();
    let tries = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    match job.phase {
        Phase::Succeeded => {
            let files = detail.result.as_ref().map_or(0, |result| result.files);
            let bytes = detail.result.as_ref().map_or(0, |result| result.bytes);
            let what = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
            printer.paint(&format!("succeeded after {took}, {tries}: {what}, {bytes} bytes"), "32")
        }
        Phase::Cancelled => printer.paint(&format!("cancelled after {took}: nothing was published"), "33"),
        phase => {
            let errors = detail.attempts.iter().rev().find_map(|attempt| attempt.error.as_deref());
            let error = clean(errors.unwrap_or("no error text"));
            printer.paint(&format!("{phase} after {took}, {tries}: {error}"), "31")
        }
    }
}

/// Says how a job ended and, on standard output, where its result is. Of a server elsewhere its folder is no path here.
pub(crate) fn report(detail: &JobDetail, is_remote: bool, printer: &Printer) -> Result<u8, Failure> {
    printer.remark(&verdict_line(printer, detail));
    let path = detail.result.as_ref().and_then(|result| result.path.as_ref()).filter(|_| !is_remote);
    if printer.is_json() {
        printer.json(&serde_json::json!({
            "job": detail.job.job,
            "phase": detail.job.phase,
            "attempts": detail.attempts.len(),
            "path": path,
        }))?;
    } else if let Some(path) = path {
        printer.line(path);
    } else if detail.result.is_some() {
        printer.hint(&format!("`remora result {} --to FOLDER` copies the result", detail.job.job));
    }
    Ok(verdict_code(detail.job.phase))
}
