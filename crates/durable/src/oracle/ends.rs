//! `AcceptSuccess`, `AcceptFailure`, `RejectOutcome`, `ReapLostAttempt`, `FinalizeCancel`: the ends of an
//! attempt's authority.

use protocol::machine::{Attempt, Move, StageState, Wants};
use protocol::{AttemptId, FailureCause, Guard, Phase, Stamped, Timestamp, Token, Verdict, job, limit};

use super::job::{EndNote, JOB, JobRow, StageNote};
use super::{Shelf, aside, mark, storable};
use crate::{
    AcceptFailure, AcceptSuccess, Document, Ended, FinalizeCancel, ProgramExit, PublishedResult,
    ReapLostAttempt,
};

/// What an end says beside the job's phase.
struct Said<'a> {
    verdict: Verdict,
    error: Option<&'a str>,
    exit: Option<ProgramExit>,
    /// Whether the attempt itself said it, so that its process is known to be gone.
    stopped: bool,
}

/// The answer that this attempt's end was given, if it was that end.
fn again(row: &JobRow, of: Option<Attempt>, same: fn(Verdict) -> bool) -> Option<Stamped<Ended>> {
    let end = row.note(of?).end.as_ref()?;
    same(end.verdict).then(|| end.answer.clone())
}

fn failed_but_not_lost(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Failed(cause) if cause != FailureCause::Lost)
}

impl Shelf {
    pub(super) fn accept_success(&mut self, request: &AcceptSuccess) -> Stamped<Ended> {
        if let Some(reason) = refusal(request) {
            return aside(reason);
        }
        let now = self.now;
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::Authority);
        };
        let of = row.named(request.attempt, request.token);
        if let Some(answer) = again(row, of, |verdict| verdict == Verdict::Succeeded) {
            return answer;
        }
        let Some(of) = of else { return row.refuse(Guard::Authority) };
        let stage = StageState::Complete;
        if let Err(guard) = ask(row, of, Wants::Success, Move::AcceptSuccess(of), Some(stage)) {
            return row.refuse(guard);
        }
        row.losses = 0;
        row.result = Some(PublishedResult {
            job: request.job,
            attempt: request.attempt,
            token: request.token,
            record: request.result.clone(),
            at: now,
        });
        let said = Said { verdict: Verdict::Succeeded, error: None, exit: None, stopped: true };
        end(row, of, now, None, &said)
    }

    pub(super) fn accept_failure(&mut self, request: &AcceptFailure) -> Stamped<Ended> {
        if request.cause == FailureCause::Lost {
            return aside("cause is lost; allowed is any other: only the reaper judges that");
        }
        let now = self.now;
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::Authority);
        };
        let of = row.named(request.attempt, request.token);
        if let Some(answer) = again(row, of, failed_but_not_lost) {
            return answer;
        }
        let Some(of) = of else { return row.refuse(Guard::Authority) };
        if request.cause == FailureCause::Permanent && row.guard_outcome(of).is_ok() {
            row.spend_budget(request.token);
        }
        if let Err(guard) = ask(row, of, Wants::Failure, Move::AcceptFailure(of), None) {
            return row.refuse(guard);
        }
        row.losses = 0;
        let delay_ms = row.spec.retry.after(request.cause, request.token.0, 0, request.chance);
        let said = Said {
            verdict: Verdict::Failed(request.cause),
            error: Some(&request.error),
            exit: request.exit,
            stopped: true,
        };
        end(row, of, now, Some(delay_ms), &said)
    }

    pub(super) fn reap_lost_attempt(&mut self, request: &ReapLostAttempt) -> Stamped<Ended> {
        let now = self.now;
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::Authority);
        };
        let of = row.named(request.attempt, request.token);
        if let Some(answer) = again(row, of, |verdict| verdict == Verdict::Failed(FailureCause::Lost)) {
            return answer;
        }
        let Some(of) = of else { return row.refuse(Guard::Authority) };
        if let Err(guard) = row.guard(Move::ReapLostAttempt(of)) {
            return row.refuse(guard);
        }
        row.take(Move::ReapLostAttempt(of));
        row.losses += 1;
        let delay_ms = row.spec.retry.after(FailureCause::Lost, request.token.0, row.losses, request.chance);
        let said = Said {
            verdict: Verdict::Failed(FailureCause::Lost),
            error: Some(&request.error),
            exit: None,
            stopped: false,
        };
        end(row, of, now, Some(delay_ms), &said)
    }

    pub(super) fn finalize_cancel(&mut self, request: &FinalizeCancel) -> Stamped<Ended> {
        let now = self.now;
        let Some(row) = self.jobs.get_mut(&request.job) else {
            return Stamped::refused(mark(0), Guard::PhaseCancelling);
        };
        let of = named_by_id(row, request.attempt);
        if let Some(answer) = again(row, of, |verdict| verdict == Verdict::Cancelled) {
            return answer;
        }
        if let Err(guard) = row.guard(Move::FinalizeCancel(JOB)) {
            return row.refuse(guard);
        }
        let Some(of) = of.filter(|of| row.variables().authority == Some(*of)) else {
            return row.refuse(Guard::Authority);
        };
        row.take(Move::FinalizeCancel(JOB));
        // A worker knows that its process tree is gone; a canceller has only judged.
        let stopped = request.judged.is_empty();
        end(row, of, now, None, &Said { verdict: Verdict::Cancelled, error: None, exit: None, stopped })
    }
}

fn named_by_id(row: &JobRow, attempt: AttemptId) -> Option<Attempt> {
    let place = row.attempts.iter().position(|note| note.attempt == attempt)?;
    row.named(attempt, Token(u32::try_from(place).ok()? + 1))
}

/// Why the result cannot be kept in a row at all.
fn refusal(request: &AcceptSuccess) -> Option<String> {
    if let Document::Inline(bytes) = &request.result.manifest
        && let Err(violation) = job::check_size("manifest", bytes.len(), limit::INLINE_BYTES)
    {
        return Some(violation.to_string());
    }
    let counts = [("files", request.result.files), ("bytes", request.result.bytes)];
    let over = counts.into_iter().find(|(_, count)| i64::try_from(*count).is_err());
    over.map(|(field, count)| format!("{field} is {count}; allowed is at most {}", i64::MAX))
}

impl JobRow {
    /// Whether an outcome of the attempt would be accepted.
    fn guard_outcome(&mut self, of: Attempt) -> Result<(), Guard> {
        self.knowing(of, |attempt| attempt.pending_outcome = Some(Wants::Failure));
        let allowed = self.guard(Move::AcceptFailure(of));
        self.knowing(of, |attempt| attempt.pending_outcome = None);
        allowed
    }
}

/// The outcome arrives, and is accepted, or settled as refused.
fn ask(
    row: &mut JobRow,
    of: Attempt,
    wants: Wants,
    step: Move,
    stage: Option<StageState>,
) -> Result<(), Guard> {
    row.knowing(of, |attempt| {
        attempt.pending_outcome = Some(wants);
        attempt.stage_state = stage.unwrap_or(attempt.stage_state);
    });
    let allowed = row.guard(step);
    match allowed {
        Ok(()) => row.take(step),
        Err(_) => {
            row.settle(Move::RejectOutcome(of));
            0
        }
    };
    allowed
}

/// Writes down what an end brings with it, after the job's own row.
fn end(
    row: &mut JobRow,
    of: Attempt,
    now: Timestamp,
    delay_ms: Option<u64>,
    said: &Said<'_>,
) -> Stamped<Ended> {
    let phase = row.phase();
    let due = delay_ms.filter(|_| phase == Phase::RetryWait).map(|delay_ms| now.plus_ms(delay_ms));
    row.due_at = due.unwrap_or(row.due_at);
    let answer = Stamped::taken(mark(row.revision), Ended { phase, due });
    row.note_mut(of).end = Some(EndNote {
        at: now,
        verdict: said.verdict,
        error: said.error.map(|text| storable(text, limit::ERROR_BYTES)),
        exit: said.exit,
        answer: answer.clone(),
    });
    forget_old_errors(row);
    if phase.is_terminal() {
        row.end_job(now);
    } else {
        let kept = row.checkpoint_revision;
        row.checkpoints.retain(|revision, _| *revision == kept);
    }
    row.stages.push(StageNote {
        attempt: row.note(of).attempt,
        token: Token(u32::from(of.token)),
        ended_at: now,
        stopped: said.stopped,
        committed: said.verdict == Verdict::Succeeded,
        owed: 1,
    });
    answer
}

fn forget_old_errors(row: &mut JobRow) {
    let kept = usize::try_from(limit::ERRORS_KEPT).unwrap_or(usize::MAX);
    let old = row.attempts.len().saturating_sub(kept);
    row.attempts[..old].iter_mut().filter_map(|note| note.end.as_mut()).for_each(|end| end.error = None);
}
