//! The jobs of a campaign: what is submitted, and what each must come to.

use std::time::Duration;

use durable::JobView;
use protocol::{FailureCause, JobSpec, Phase, RetryPolicy, Timestamp, Verdict};

use crate::fleet::Reader;
use crate::jobs::{count, count_result, shell};
use crate::seed::Seed;

/// Bytes of a large result.
const LARGE: usize = 1_500_000;
/// Attempts that no number of faults of a campaign uses up.
const PLENTY: u32 = 10_000;
/// How long a delayed job waits.
const DELAY_MS: u64 = 4_000;
/// How often a job that must fail is tried.
const TRIES: u32 = 2;

/// What a job must come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// `seq 1 n` in the file `lines`.
    Lines(u32),
    /// The same, not before a moment.
    LinesFrom(u32, Timestamp),
    /// So many of one letter in the file `large`.
    Large(char),
    /// Failed after so many attempts, nothing published.
    Failure,
    /// The same as `Lines`, unless a cancel came first.
    LinesOrCancelled(u32),
    /// Cancelled, because that was promised.
    Cancelled,
}

/// One job to come.
pub(super) struct Coming {
    pub(super) spec: JobSpec,
    pub(super) expect: Expect,
    /// A cancel follows so long after it was accepted.
    pub(super) cancel_after: Option<Duration>,
}

/// The next job, by chance. Its key makes asking again harmless.
pub(super) fn next(seed: &mut Seed, number: u64, now: Timestamp) -> Coming {
    let steps = u32::try_from(5 + seed.below(11)).unwrap_or(5);
    let pause = Duration::from_millis(100 + 50 * seed.below(8));
    let counting = || count(steps, pause, None);
    let (spec, expect, cancel_after) = match seed.below(20) {
        0..13 => (counting(), Expect::Lines(steps), None),
        13..15 => {
            let due = now.plus_ms(DELAY_MS);
            let spec = JobSpec { scheduled_at: Some(due), ..counting() };
            (spec, Expect::LinesFrom(steps, due), None)
        }
        15..17 => {
            let letter = if seed.below(2) == 0 { 'a' } else { 'b' };
            let text = format!(
                "head -c {LARGE} /dev/zero | tr '\\0' {letter} > \"$REMORA_OUTPUT/large\" && \
                 remora attempt checkpoint && sleep 0.5"
            );
            (shell(&text), Expect::Large(letter), None)
        }
        17 => (shell("sleep 0.2; exit 7"), Expect::Failure, None),
        _ => {
            let after = Duration::from_millis(seed.below(3_000));
            (counting(), Expect::LinesOrCancelled(steps), Some(after))
        }
    };
    let max_attempts = if expect == Expect::Failure { TRIES } else { PLENTY };
    let retry = RetryPolicy { base_ms: 200, cap_ms: 1_000 };
    let idempotency_key = Some(format!("chaos-{}-{number}", seed.number()));
    Coming { spec: JobSpec { max_attempts, retry, idempotency_key, ..spec }, expect, cancel_after }
}

/// What is wrong with a job that has ended, or nothing.
///
/// # Errors
/// When the target gives no answer.
pub(super) async fn judge(reader: &Reader, view: &JobView, expect: Expect) -> anyhow::Result<Option<String>> {
    let successes =
        view.attempts.iter().filter(|attempt| attempt.verdict == Some(Verdict::Succeeded)).count();
    let phase = view.summary.phase;
    if successes != usize::from(phase == Phase::Succeeded) || view.result.is_some() != (successes == 1) {
        return Ok(Some(format!("{successes} attempts succeeded and its phase is {phase}")));
    }
    let wrong_bytes = match (expect, phase) {
        (
            Expect::Lines(steps) | Expect::LinesFrom(steps, _) | Expect::LinesOrCancelled(steps),
            Phase::Succeeded,
        ) => reader.published(view, "lines").await? != count_result(steps),
        (Expect::Large(letter), Phase::Succeeded) => {
            let text = reader.published(view, "large").await?;
            text.len() != LARGE || text.chars().any(|one| one != letter)
        }
        (Expect::LinesOrCancelled(_) | Expect::Cancelled, Phase::Cancelled) => false,
        (Expect::Failure, Phase::Failed) => return Ok(too_few_tries(view)),
        (expected, _) => return Ok(Some(format!("its phase is {phase}, where {expected:?} was expected"))),
    };
    if wrong_bytes {
        return Ok(Some("its result is wrong".to_owned()));
    }
    if let Expect::LinesFrom(_, due) = expect
        && view.attempts.iter().any(|attempt| attempt.started_at < due)
    {
        return Ok(Some(format!("it was started before it was due, at {due}")));
    }
    Ok(None)
}

/// One that fails does so with its attempts spent, by its own exit code or by lost workers.
fn too_few_tries(view: &JobView) -> Option<String> {
    let tries = view.attempts.len();
    let by_itself = |verdict: &Option<Verdict>| {
        matches!(
            verdict,
            Some(Verdict::Failed(FailureCause::Failed | FailureCause::Lost | FailureCause::Drained))
        )
    };
    let right = u32::try_from(tries) == Ok(TRIES) && view.attempts.iter().all(|one| by_itself(&one.verdict));
    (!right).then(|| format!("it failed after {tries} attempts: {:?}", view.attempts))
}
