//! Following one job: its log, its progress, its end.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use coordination::LiveProgress;
use durable::{AttemptView, JobView};
use indicatif::ProgressBar;
use protocol::{JobId, Phase, UserProgress, Verdict};
use remora::{Client, ClientError};
use target::{LogReader, StageId, Target};

use crate::failure::{Failure, code};
use crate::parse::show_ms;
use crate::printer::Printer;

/// How often the log is looked at while a job runs.
const LOG_LOOK: Duration = Duration::from_millis(100);

/// Prints the logs of a job's attempts as they grow.
pub(crate) struct LogFollower<'a> {
    target: &'a dyn Target,
    job: JobId,
    current: Option<(u32, Box<dyn LogReader>)>,
    /// Read and not given yet: a read may be given up in the middle.
    out: Vec<u8>,
}

impl<'a> LogFollower<'a> {
    pub(crate) fn new(target: &'a dyn Target, job: JobId) -> Self {
        Self { target, job, current: None, out: Vec::new() }
    }

    /// Goes on to the attempts that the view shows; gives what they have written since.
    pub(crate) async fn read(&mut self, attempts: &[AttemptView]) -> Vec<u8> {
        let seen = self.current.as_ref().map_or(0, |(token, _)| *token);
        self.read_current().await;
        for attempt in attempts.iter().filter(|attempt| attempt.token.0 > seen) {
            let stage = StageId { job: self.job, token: attempt.token, attempt: attempt.attempt };
            self.current = Some((attempt.token.0, self.target.read_log(&stage)));
            self.read_current().await;
        }
        std::mem::take(&mut self.out)
    }

    /// What the attempt read last has written since.
    async fn read_current(&mut self) {
        if let Some((_, reader)) = &mut self.current {
            match reader.read_more().await {
                Ok(bytes) => self.out.extend(bytes),
                Err(error) => tracing::warn!(%error, "cannot read the log"),
            }
        }
    }
}

/// The folder that a published result lies in, where the target is a folder.
pub(crate) fn local_result(target: &dyn Target, view: &JobView) -> Option<PathBuf> {
    let result = view.result.as_ref()?;
    let stage = StageId { job: result.job, token: result.token, attempt: result.attempt };
    target.local_result(&stage)
}

/// Follows a job to its end; bar and log go to standard error.
pub(crate) async fn follow(
    client: &Client,
    target: &dyn Target,
    job: JobId,
    printer: &Printer,
) -> Result<JobView, ClientError> {
    let bar = printer.bar();
    bar.enable_steady_tick(Duration::from_millis(120));
    bar.set_prefix("queued");
    let mut log = LogFollower::new(target, job);
    let mut shown = String::new();
    let attempts: Mutex<Vec<AttemptView>> = Mutex::default();
    let seen = || attempts.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let looking = client.watch(job, |view, live| {
        attempts.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&view.attempts);
        describe(&bar, view, live);
        note_change(printer, &bar, view, &mut shown);
        view.summary.phase.is_terminal().then(|| view.clone())
    });
    let logging = async {
        loop {
            let text = log.read(&seen()).await;
            if !text.is_empty() {
                bar.suspend(|| printer.log(&text));
            }
            tokio::time::sleep(LOG_LOOK).await;
        }
    };
    let end = tokio::select! {
        end = looking => end,
        never = logging => never,
    };
    if let Ok(view) = &end {
        let text = log.read(&view.attempts).await;
        bar.suspend(|| printer.log(&text));
    }
    bar.finish_and_clear();
    end
}

fn describe(bar: &ProgressBar, view: &JobView, live: Option<LiveProgress>) {
    let token = view.summary.token.0;
    bar.set_prefix(format!(
        "{}{}",
        view.summary.phase,
        if token > 1 { format!(" (attempt {token})") } else { String::new() }
    ));
    let progress = live.map(|live| live.progress).or_else(|| view.summary.progress.clone());
    bar.set_message(progress.map_or_else(String::new, |progress| show_progress(&progress)));
}

/// `3/10 (30%) message`.
pub(crate) fn show_progress(progress: &UserProgress) -> String {
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

/// One line for each attempt that ended without ending the job.
fn note_change(printer: &Printer, bar: &ProgressBar, view: &JobView, shown: &mut String) {
    let Some(ended) = view.attempts.iter().rev().find(|attempt| attempt.verdict.is_some()) else { return };
    let key = ended.attempt.to_string();
    if *shown == key || view.summary.phase.is_terminal() {
        return;
    }
    *shown = key;
    let error =
        ended.error.as_deref().map(|error| clean(error.lines().next().unwrap_or(""))).unwrap_or_default();
    let text = format!("attempt {} ended: {error}; {}", ended.token, next(view));
    bar.suspend(|| printer.remark(&printer.paint(&text, "33")));
}

fn next(view: &JobView) -> String {
    if view.checkpoint_revision > 0 {
        "the next one goes on from the last checkpoint".to_owned()
    } else {
        "the next one begins anew".to_owned()
    }
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
pub(crate) fn verdict_line(printer: &Printer, view: &JobView) -> String {
    let took = view.summary.finished_at.map(|end| show_ms(end.since_ms(view.summary.created_at)));
    let took = took.unwrap_or_default();
    let attempts = view.attempts.len();
    let tries = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    match view.summary.phase {
        Phase::Succeeded => {
            let files = view.result.as_ref().map_or(0, |result| result.record.files);
            let bytes = view.result.as_ref().map_or(0, |result| result.record.bytes);
            let what = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
            printer.paint(&format!("succeeded after {took}, {tries}: {what}, {bytes} bytes"), "32")
        }
        Phase::Cancelled => printer.paint(&format!("cancelled after {took}: nothing was published"), "33"),
        phase => {
            let error = view
                .attempts
                .iter()
                .rev()
                .find_map(|attempt| attempt.error.as_deref())
                .unwrap_or("no error text");
            printer.paint(&format!("{phase} after {took}, {tries}: {}", clean(error)), "31")
        }
    }
}

/// Says how a job ended and, on standard output, where its result is.
pub(crate) fn report(target: &dyn Target, view: &JobView, printer: &Printer) -> Result<u8, Failure> {
    printer.remark(&verdict_line(printer, view));
    let path = local_result(target, view);
    if printer.is_json() {
        printer.json(&serde_json::json!({
            "job": view.summary.job,
            "phase": view.summary.phase,
            "attempts": view.attempts.len(),
            "path": path,
        }))?;
    } else if let Some(path) = path {
        printer.line(&path.display().to_string());
    } else if view.result.is_some() {
        printer.hint(&format!("`remora result {} --to FOLDER` copies the result", view.summary.job));
    }
    Ok(verdict_code(view.summary.phase))
}

/// An attempt's end in a word.
pub(crate) fn verdict_word(verdict: Option<Verdict>) -> &'static str {
    use protocol::FailureCause;
    match verdict {
        None => "running",
        Some(Verdict::Succeeded) => "succeeded",
        Some(Verdict::Cancelled) => "cancelled",
        Some(Verdict::Failed(cause)) => match cause {
            FailureCause::Failed => "failed",
            FailureCause::TimedOut => "timed_out",
            FailureCause::Drained => "drained",
            FailureCause::BadCheckpoint => "bad_checkpoint",
            FailureCause::Permanent => "permanent",
            FailureCause::Lost => "lost",
        },
    }
}
