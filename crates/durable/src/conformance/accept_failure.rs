//! `AcceptFailure`: every guard (`RejectOutcome`), the repeat, the effect, the delays, the errors kept.

use protocol::{AttemptId, FailureCause, Guard, JobSpec, Phase, RetryPolicy, Token, Verdict};

use super::world::{World, aside, at_once, failure, mark, one, refused, taken};
use crate::{AcceptFailure, Ended, ProgramExit};

async fn refusal(world: &World, request: AcceptFailure) -> Guard {
    let before = world.standing(request.job).await;
    let guard = refused(world.room.accept_failure(&world.origin(), std::slice::from_ref(&request)).await);
    assert_eq!(world.standing(request.job).await, before, "a refusal changes nothing");
    guard
}

pub async fn a_failure_waits_for_its_retry_by_the_jobs_own_policy(world: World) {
    let policy = RetryPolicy { base_ms: 1_000, cap_ms: 60_000 };
    let claimed = world.running(JobSpec { retry: policy, ..JobSpec::default() }).await;
    let now = world.room.next_due().await.unwrap().now;
    let answer =
        one(world.room.accept_failure(&world.origin(), &[failure(&claimed, FailureCause::Failed)]).await);
    assert_eq!(answer.mark, mark(3));
    let due = now.plus_ms(1_000);
    assert_eq!(answer.step.taken(), Some(Ended { phase: Phase::RetryWait, due: Some(due) }));
    assert_eq!(world.room.next_due().await.unwrap().at, Some(due));
    assert!(world.room.due_retries(9).await.unwrap().is_empty());
    let view = world.view(claimed.job).await;
    assert_eq!((view.summary.due_at, view.summary.finished_at), (due, None));
    assert_eq!(view.summary.error.as_deref(), Some("attempt 1 failed"));
    assert_eq!(view.attempts[0].error.as_deref(), Some("attempt 1 failed\nsecond line"));
    assert_eq!(view.attempts[0].verdict, Some(Verdict::Failed(FailureCause::Failed)));
    assert!(world.room.running(None, 9).await.unwrap().is_empty());
}

pub async fn the_same_failure_again_gets_the_same_answer_wherever_the_job_has_gone(world: World) {
    let claimed = world.running(JobSpec::default()).await;
    let request = [failure(&claimed, FailureCause::Failed)];
    let first = one(world.room.accept_failure(&world.origin(), &request).await);
    let again = || async { one(world.room.accept_failure(&world.origin(), &request).await) };
    assert_eq!(again().await, first);
    assert_eq!(world.standing(claimed.job).await.1, 3, "no second effect");
    world.advance(300_000);
    world.schedule(claimed.job).await;
    assert_eq!(again().await, first);
    let second = world.claim(claimed.job).await;
    assert_eq!(again().await, first);
    world.succeed(&second).await;
    assert_eq!(again().await, first);
}

pub async fn a_failure_without_authority_is_refused(world: World) {
    let first = world.running(at_once()).await;
    world.lose(&first).await;
    let failed = |claimed| failure(claimed, FailureCause::Failed);
    assert_eq!(refusal(&world, failed(&first)).await, Guard::Authority);
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    assert_eq!(refusal(&world, failed(&first)).await, Guard::Authority);
    let old_token = AcceptFailure { token: Token(1), ..failed(&second) };
    assert_eq!(refusal(&world, old_token).await, Guard::Authority);
    let other = AcceptFailure { attempt: AttemptId(3), ..failed(&second) };
    assert_eq!(refusal(&world, other).await, Guard::Authority);
    let nobody = AcceptFailure { job: world.job_id(), ..failed(&second) };
    assert_eq!(refused(world.room.accept_failure(&world.origin(), &[nobody]).await), Guard::Authority);
}

pub async fn a_failure_after_a_cancel_or_a_success_is_refused(world: World) {
    let claimed = world.cancelling().await;
    assert_eq!(refusal(&world, failure(&claimed, FailureCause::Failed)).await, Guard::PhaseRunning);
    let claimed = world.succeeded().await;
    assert_eq!(refusal(&world, failure(&claimed, FailureCause::Failed)).await, Guard::Authority);
}

pub async fn the_last_attempts_failure_ends_the_job(world: World) {
    let claimed = world.running(JobSpec { max_attempts: 1, ..at_once() }).await;
    assert_eq!(world.fail(&claimed).await, Ended { phase: Phase::Failed, due: None });
    let view = world.view(claimed.job).await;
    assert_eq!(view.summary.finished_at, view.attempts[0].ended_at);
    assert!(world.room.due_retries(9).await.unwrap().is_empty());
}

pub async fn a_permanent_failure_lowers_the_budget_to_the_attempts_token(world: World) {
    let claimed = world.running(at_once()).await;
    let request = [failure(&claimed, FailureCause::Permanent)];
    let ended = taken(world.room.accept_failure(&world.origin(), &request).await);
    assert_eq!(ended, Ended { phase: Phase::Failed, due: None });
    let view = world.view(claimed.job).await;
    assert_eq!((view.summary.max_attempts, view.spec.max_attempts), (1, 25));
    assert_eq!(view.attempts[0].verdict, Some(Verdict::Failed(FailureCause::Permanent)));
}

pub async fn each_cause_is_kept_and_a_drain_waits_nothing(world: World) {
    let causes =
        [FailureCause::Failed, FailureCause::TimedOut, FailureCause::Drained, FailureCause::BadCheckpoint];
    for cause in causes {
        let claimed = world.running(JobSpec::default()).await;
        let now = world.room.next_due().await.unwrap().now;
        let ended = taken(world.room.accept_failure(&world.origin(), &[failure(&claimed, cause)]).await);
        let delay = if cause == FailureCause::Drained { 0 } else { 2_000 };
        assert_eq!(ended, Ended { phase: Phase::RetryWait, due: Some(now.plus_ms(delay)) });
        assert_eq!(world.view(claimed.job).await.attempts[0].verdict, Some(Verdict::Failed(cause)));
    }
}

pub async fn nobody_but_the_reaper_says_lost(world: World) {
    let claimed = world.running(at_once()).await;
    let reason =
        aside(world.room.accept_failure(&world.origin(), &[failure(&claimed, FailureCause::Lost)]).await);
    assert!(reason.contains("lost"), "{reason}");
    assert_eq!(world.standing(claimed.job).await, (Phase::Running, 2));
}

pub async fn how_the_program_ended_is_kept(world: World) {
    for exit in
        [None, Some(ProgramExit::Code(255)), Some(ProgramExit::Code(-1)), Some(ProgramExit::Signal(9))]
    {
        let claimed = world.running(at_once()).await;
        let request = AcceptFailure { exit, ..failure(&claimed, FailureCause::Failed) };
        taken(world.room.accept_failure(&world.origin(), &[request]).await);
        assert_eq!(world.view(claimed.job).await.attempts[0].exit, exit);
    }
}

pub async fn an_error_is_cut_between_characters_and_a_nul_is_shown(world: World) {
    let claimed = world.running(at_once()).await;
    let error = format!("{}ü{}", "x".repeat(8_191), "y".repeat(50_000));
    let request = AcceptFailure { error, ..failure(&claimed, FailureCause::Failed) };
    taken(world.room.accept_failure(&world.origin(), &[request]).await);
    assert_eq!(world.view(claimed.job).await.attempts[0].error, Some("x".repeat(8_191)));
    let claimed = world.running(at_once()).await;
    let request = AcceptFailure { error: "a\0b".to_owned(), ..failure(&claimed, FailureCause::Failed) };
    taken(world.room.accept_failure(&world.origin(), &[request]).await);
    assert_eq!(world.view(claimed.job).await.attempts[0].error.as_deref(), Some("a\u{2400}b"));
}

pub async fn the_last_twenty_errors_are_kept_and_every_attempt_is(world: World) {
    let job = world.submit(at_once()).await;
    for token in 1..=23 {
        let claimed = world.claim(job).await;
        assert_eq!(claimed.token, Token(token));
        world.fail(&claimed).await;
        world.schedule(job).await;
    }
    let view = world.view(job).await;
    assert_eq!(view.attempts.len(), 23);
    let kept: Vec<_> = view
        .attempts
        .iter()
        .filter(|attempt| attempt.error.is_some())
        .map(|attempt| attempt.token.0)
        .collect();
    assert_eq!(kept, (4..=23).collect::<Vec<_>>());
    assert_eq!(view.summary.error.as_deref(), Some("attempt 23 failed"));
}

pub async fn delays_never_overflow_at_any_token(world: World) {
    let widest = RetryPolicy { base_ms: 2_000, cap_ms: 300_000 };
    let job = world.submit(JobSpec { max_attempts: 32_767, retry: widest, ..JobSpec::default() }).await;
    for token in 1..=65_u32 {
        let claimed = world.claim(job).await;
        assert_eq!(claimed.token, Token(token));
        let now = world.room.next_due().await.unwrap().now;
        let due = world.fail(&claimed).await.due.unwrap();
        let delay = 2_000_u64.checked_shl(token - 1).filter(|_| token < 9).unwrap_or(300_000);
        assert_eq!(due.since_ms(now), delay, "token {token}");
        world.advance(delay);
        world.schedule(job).await;
    }
    let endless = RetryPolicy { base_ms: i64::MAX.unsigned_abs(), cap_ms: i64::MAX.unsigned_abs() };
    let claimed = world.running(JobSpec { retry: endless, ..JobSpec::default() }).await;
    assert_eq!(world.fail(&claimed).await.due, Some(protocol::Timestamp::MAX));
}
