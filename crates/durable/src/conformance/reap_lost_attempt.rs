//! `ReapLostAttempt`: every guard, the repeat, the effect, the count of losses in a row.

use protocol::{AttemptId, FailureCause, Guard, JobSpec, Phase, Token, Verdict};

use super::world::{Claimed, World, at_once, loss, mark, one, refused, taken};
use crate::{Ended, ReapLostAttempt};

async fn refusal(world: &World, request: ReapLostAttempt) -> Guard {
    let before = world.standing(request.job).await;
    let guard = refused(world.room.reap_lost_attempt(&world.origin(), std::slice::from_ref(&request)).await);
    assert_eq!(world.standing(request.job).await, before, "a refusal changes nothing");
    guard
}

/// How long the job waits after losing this attempt at the worst chance.
async fn delay_after_loss(world: &World, claimed: &Claimed) -> u64 {
    let now = world.room.next_due().await.unwrap().now;
    let request = ReapLostAttempt { chance: u64::MAX, ..loss(claimed) };
    let ended = taken(world.room.reap_lost_attempt(&world.origin(), &[request]).await);
    let delay = ended.due.unwrap().since_ms(now);
    world.advance(delay);
    world.schedule(claimed.job).await;
    delay
}

pub async fn a_lost_attempt_is_revoked_and_the_job_waits_shortly(world: World) {
    let claimed = world.running(JobSpec::default()).await;
    let now = world.room.next_due().await.unwrap().now;
    let answer = one(world.room.reap_lost_attempt(&world.origin(), &[loss(&claimed)]).await);
    assert_eq!(answer.mark, mark(3));
    assert_eq!(answer.step.taken(), Some(Ended { phase: Phase::RetryWait, due: Some(now) }));
    assert!(world.room.running(None, 9).await.unwrap().is_empty());
    let view = world.view(claimed.job).await;
    assert_eq!(view.attempts[0].verdict, Some(Verdict::Failed(FailureCause::Lost)));
    assert_eq!(view.summary.error.as_deref(), Some("worker lost"));
    assert_eq!(world.room.due_retries(9).await.unwrap()[0].job, claimed.job);
}

pub async fn the_same_reaping_again_gets_the_same_answer_wherever_the_job_has_gone(world: World) {
    let claimed = world.running(at_once()).await;
    let first = one(world.room.reap_lost_attempt(&world.origin(), &[loss(&claimed)]).await);
    let again = || async { one(world.room.reap_lost_attempt(&world.origin(), &[loss(&claimed)]).await) };
    assert_eq!(again().await, first);
    assert_eq!(world.standing(claimed.job).await.1, 3, "no second effect");
    world.schedule(claimed.job).await;
    let second = world.claim(claimed.job).await;
    assert_eq!(again().await, first);
    world.cancel(claimed.job).await;
    assert_eq!(again().await, first);
    assert_eq!(world.standing(second.job).await.0, Phase::Cancelling);
}

pub async fn an_old_judgement_never_revokes_a_newer_attempt(world: World) {
    let first = world.waiting().await;
    assert_eq!(refusal(&world, loss(&first)).await, Guard::Authority);
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    assert_eq!(refusal(&world, loss(&first)).await, Guard::Authority);
    let wrong = ReapLostAttempt { token: Token(9), ..loss(&second) };
    assert_eq!(refusal(&world, wrong).await, Guard::Authority);
    let other = ReapLostAttempt { attempt: AttemptId(3), ..loss(&second) };
    assert_eq!(refusal(&world, other).await, Guard::Authority);
    let nobody = ReapLostAttempt { job: world.job_id(), ..loss(&second) };
    assert_eq!(refused(world.room.reap_lost_attempt(&world.origin(), &[nobody]).await), Guard::Authority);
    world.succeed(&second).await;
    assert_eq!(refusal(&world, loss(&second)).await, Guard::Authority);
}

pub async fn a_job_that_is_cancelling_is_refused(world: World) {
    let claimed = world.cancelling().await;
    assert_eq!(refusal(&world, loss(&claimed)).await, Guard::PhaseRunning);
}

pub async fn the_last_attempts_loss_ends_the_job(world: World) {
    let claimed = world.running(JobSpec { max_attempts: 1, ..at_once() }).await;
    assert_eq!(world.lose(&claimed).await, Ended { phase: Phase::Failed, due: None });
}

pub async fn losses_in_a_row_double_the_delay_up_to_five_minutes(world: World) {
    let job = world.submit(JobSpec { max_attempts: 100, ..JobSpec::default() }).await;
    let mut delays = Vec::new();
    for _ in 0..12 {
        let claimed = world.claim(job).await;
        delays.push(delay_after_loss(&world, &claimed).await);
    }
    assert_eq!(delays[..4], [500, 1_000, 2_000, 4_000]);
    assert_eq!(delays[9..], [256_000, 300_000, 300_000]);
}

pub async fn an_ordinary_end_or_a_checkpoint_ends_the_row_of_losses(world: World) {
    let job = world.submit(JobSpec { max_attempts: 100, ..at_once() }).await;
    for expected in [500, 1_000] {
        let claimed = world.claim(job).await;
        assert_eq!(delay_after_loss(&world, &claimed).await, expected);
    }
    let claimed = world.claim(job).await;
    world.fail(&claimed).await;
    world.schedule(job).await;
    for expected in [500, 1_000] {
        let claimed = world.claim(job).await;
        assert_eq!(delay_after_loss(&world, &claimed).await, expected);
    }
    let claimed = world.claim(job).await;
    world.persist(&claimed, 1).await;
    assert_eq!(delay_after_loss(&world, &claimed).await, 500);
}
