//! Attempts on a line of time.

use api::v1::{Attempt, JobDetail, Moment};

use super::words::{between, lasting, thousandths};

/// Lanes that are drawn: the last attempts.
pub(crate) const LANES: usize = 25;

/// An attempt's lane: all places in thousandths of the width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) attempt: u32,
    pub(crate) verdict: String,
    /// The style's name of the verdict.
    pub(crate) tone: &'static str,
    /// Where it was claimed.
    pub(crate) x: u64,
    pub(crate) width: u64,
    /// Where the wait before it began.
    pub(crate) wait_x: u64,
    /// Where its checkpoint is, the valid one being of this attempt.
    pub(crate) checkpoint: Option<u64>,
    /// Whether it has ended.
    pub(crate) ended: bool,
    pub(crate) title: String,
}

/// All lanes, and the ends of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Timeline {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) begin: String,
    pub(crate) end: String,
    pub(crate) spans: String,
    /// Earlier attempts that are not drawn.
    pub(crate) hidden: usize,
}

/// How a verdict is coloured.
pub(crate) fn tone(verdict: &str) -> &'static str {
    match verdict {
        "running" => "running",
        "succeeded" => "succeeded",
        "cancelled" => "cancelled",
        "drained" => "queued",
        "lost" => "lost",
        _ => "failed",
    }
}

fn title(attempt: &Attempt, until: Moment) -> String {
    let ran = lasting(between(attempt.started_at, until));
    let worker = attempt.worker_name.as_deref().unwrap_or("a worker that is gone");
    match attempt.ended_at {
        Some(_) => format!("attempt {} on {worker}: {} after {ran}", attempt.attempt, attempt.verdict),
        None => format!("attempt {} on {worker}: runs since {ran}", attempt.attempt),
    }
}

/// The attempts of a job, drawn from its acceptance, or the first that is drawn, to its end or now.
pub(crate) fn timeline(detail: &JobDetail, now: Moment) -> Timeline {
    let hidden = detail.attempts.len().saturating_sub(LANES);
    let shown = &detail.attempts[hidden..];
    let before = hidden.checked_sub(1).and_then(|last| detail.attempts[last].ended_at);
    let begin = before.unwrap_or(detail.job.created_at);
    let end = detail.job.finished_at.unwrap_or(now).max(begin);
    let whole = between(begin, end);
    let at = |moment: Moment| thousandths(between(begin, moment), whole);
    let mut waited_from = begin;
    let mut lanes = Vec::with_capacity(shown.len());
    for attempt in shown {
        let until = attempt.ended_at.unwrap_or(end);
        let x = at(attempt.started_at);
        let checkpoint = detail.checkpoint.as_ref().filter(|one| one.attempt == attempt.attempt);
        lanes.push(Lane {
            attempt: attempt.attempt,
            verdict: attempt.verdict.replace('_', " "),
            tone: tone(&attempt.verdict),
            x,
            // However short, it is seen.
            width: at(until).saturating_sub(x).max(4),
            wait_x: at(waited_from),
            checkpoint: checkpoint.map(|one| at(one.at)),
            ended: attempt.ended_at.is_some(),
            title: title(attempt, until),
        });
        waited_from = until;
    }
    let clock =
        |moment: Moment| moment.to_string().get(..19).map(|text| text.replace('T', " ")).unwrap_or_default();
    Timeline { lanes, begin: clock(begin), end: clock(end), spans: lasting(whole), hidden }
}
