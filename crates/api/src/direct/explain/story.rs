//! How each attempt ended, in a sentence.

use coordination::WorkerView;
use durable::{AttemptView, ProgramExit};
use protocol::{FailureCause, Verdict};

use super::facts::Facts;
use super::waiting::capital;
use super::words::{lasting, line, many, named};
use crate::direct::jobs::verdict_word;
use crate::v1::AttemptStory;

pub(super) fn of_attempts(facts: &Facts) -> Vec<AttemptStory> {
    let attempts = &facts.view.attempts;
    let after = attempts.iter().skip(1).map(Some).chain([None]);
    let ended = attempts
        .iter()
        .zip(after)
        .filter_map(|(attempt, next)| Some(story(facts.workers(), attempt, attempt.verdict?, next)));
    ended.collect()
}

fn story(
    workers: &[WorkerView],
    attempt: &AttemptView,
    verdict: Verdict,
    next: Option<&AttemptView>,
) -> AttemptStory {
    // Who reported its own end had authority until then; only a lost one is fenced.
    let fenced_by = next.filter(|_| verdict == Verdict::Failed(FailureCause::Lost)).map(|next| next.token.0);
    let ran = attempt.ended_at.map_or(0, |at| at.since_ms(attempt.started_at));
    let from = match attempt.resumed_from {
        0 => "from the start".to_owned(),
        sealed => format!("from checkpoint {sealed}"),
    };
    let who = capital(&named(workers, attempt.worker));
    let how = how(attempt, verdict);
    let fence = fenced_by
        .map(|token| {
            format!(" Attempt {token} has authority since: whatever this one still sends is refused.")
        })
        .unwrap_or_default();
    AttemptStory {
        attempt: attempt.token.0,
        verdict: verdict_word(Some(verdict)).to_owned(),
        text: format!("{who} ran it for {} {from}; {how}.{fence}", lasting(ran)),
        fenced_by,
    }
}

fn how(attempt: &AttemptView, verdict: Verdict) -> String {
    let cause = match verdict {
        Verdict::Succeeded => return "its result was published".to_owned(),
        Verdict::Cancelled => return "it was stopped by the cancel".to_owned(),
        Verdict::Failed(cause) => cause,
    };
    let what = match cause {
        FailureCause::Failed => "it failed",
        FailureCause::TimedOut => "it ran longer than its time limit and was stopped",
        FailureCause::Drained => "its worker was drained before it had ended",
        FailureCause::BadCheckpoint => "its checkpoint could not be read back",
        FailureCause::Permanent => "it failed for good",
        FailureCause::Lost => "its lease ended and its authority was revoked",
    };
    let exit = match attempt.exit {
        Some(ProgramExit::Code(code)) => format!(" with exit code {code}"),
        Some(ProgramExit::Signal(signal)) => format!(" by signal {signal}"),
        None => String::new(),
    };
    let error = attempt.error.as_deref().map(line).filter(|error| !error.is_empty());
    format!(
        "{what}{exit}{}",
        error.map(|error| format!(": {}", error.trim_end_matches('.'))).unwrap_or_default()
    )
}

/// What is left of the retry budget, in words.
pub(super) fn budget(facts: &Facts) -> String {
    let job = &facts.view.summary;
    many(job.max_attempts.saturating_sub(job.token.0), "attempt is", "attempts are")
}
