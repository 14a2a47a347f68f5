//! A job and its attempts, as a list and a page show them.

use api::v1::{Attempt, Job, Moment, Progress, Why};
use protocol::Phase;

use super::timeline::tone;
use super::words::{When, between, count, lasting, phase_words, thousandths, when};

/// Letters of a command or an error in a list.
const SHORT: usize = 160;

/// A job in a list.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) phase: Phase,
    pub(crate) phase_words: &'static str,
    pub(crate) title: String,
    pub(crate) kind: String,
    pub(crate) queue: String,
    pub(crate) attempts: String,
    /// Whether it was tried more than once.
    pub(crate) retried: bool,
    pub(crate) created: When,
    pub(crate) finished: Option<When>,
    pub(crate) due: Option<When>,
    pub(crate) progress: Option<Bar>,
    pub(crate) error: Option<String>,
    pub(crate) set_aside: bool,
}

/// Progress, drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bar {
    /// In thousandths, where the whole is known.
    pub(crate) share: Option<u64>,
    pub(crate) text: String,
    pub(crate) message: String,
}

/// Progress for people.
pub(crate) fn progress(progress: &Progress) -> Bar {
    let share = progress.total.filter(|total| *total > 0).map(|total| thousandths(progress.done, total));
    let text = match (progress.total, share) {
        (Some(total), Some(share)) => {
            format!("{} of {} ({} %)", count(progress.done), count(total), share / 10)
        }
        _ => count(progress.done),
    };
    Bar { share, text, message: progress.message.clone().unwrap_or_default() }
}

/// A text, cut to so many letters.
pub(crate) fn cut(text: &str, letters: usize) -> String {
    let mut short: String = text.chars().take(letters).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// What a job is called: its program's words, or its kind.
pub(crate) fn title(job: &Job) -> String {
    match &job.command {
        Some(words) if !words.is_empty() => cut(&words.join(" "), SHORT),
        _ => job.kind.clone(),
    }
}

/// A job in a list.
pub(crate) fn row(job: &Job, now: Moment) -> Row {
    let waits = matches!(job.phase, Phase::Queued | Phase::RetryWait);
    Row {
        id: job.job.to_string(),
        phase: job.phase,
        phase_words: phase_words(job.phase),
        title: title(job),
        kind: job.kind.clone(),
        queue: job.queue.clone(),
        attempts: format!("{} of {}", count(job.attempt.into()), count(job.max_attempts.into())),
        retried: job.attempt > 1,
        created: when(job.created_at, now),
        finished: job.finished_at.map(|at| when(at, now)),
        due: (waits && job.due_at > now).then(|| when(job.due_at, now)),
        progress: job.progress.as_ref().filter(|_| !job.phase.is_terminal()).map(progress),
        error: job.error.as_deref().filter(|_| job.phase != Phase::Succeeded).map(|text| cut(text, SHORT)),
        set_aside: job.set_aside.is_some(),
    }
}

/// An attempt in the ledger.
pub(crate) struct Entry {
    pub(crate) attempt: u32,
    pub(crate) verdict: String,
    pub(crate) tone: &'static str,
    pub(crate) worker: String,
    pub(crate) worker_name: String,
    pub(crate) started: When,
    pub(crate) ended: Option<When>,
    pub(crate) lasted: String,
    pub(crate) resumed_from: u64,
    pub(crate) exit: String,
    pub(crate) lease: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) story: Option<String>,
    pub(crate) fenced_by: Option<u32>,
}

fn exit(attempt: &Attempt) -> String {
    match (attempt.exit_code, attempt.signal) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => String::new(),
    }
}

/// An attempt with what `why` tells of it.
pub(crate) fn entry(attempt: &Attempt, why: Option<&Why>, now: Moment) -> Entry {
    let story = why.and_then(|why| why.attempts.iter().find(|story| story.attempt == attempt.attempt));
    Entry {
        attempt: attempt.attempt,
        verdict: attempt.verdict.replace('_', " "),
        tone: tone(&attempt.verdict),
        worker: attempt.worker.to_string(),
        worker_name: attempt.worker_name.clone().unwrap_or_default(),
        started: when(attempt.started_at, now),
        ended: attempt.ended_at.map(|at| when(at, now)),
        lasted: lasting(between(attempt.started_at, attempt.ended_at.unwrap_or(now))),
        resumed_from: attempt.resumed_from,
        exit: exit(attempt),
        lease: attempt.lease_age_ms.map(lasting),
        error: attempt.error.clone(),
        story: story.map(|story| story.text.clone()),
        fenced_by: story.and_then(|story| story.fenced_by),
    }
}
