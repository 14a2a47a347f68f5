//! `AuthorizeAttempt`: every guard, the repeat, the effect, the row that cannot be claimed.

use protocol::{Guard, Incarnation, JobSpec, Phase, Token};

use super::world::{World, aside, at_once, manifest_of, mark, one, refused, state_of, taken};
use crate::{AttemptOf, AuthorizeAttempt, Retried, Retry};

async fn refusal(world: &World, request: AuthorizeAttempt) -> Guard {
    let before = world.standing(request.job).await;
    let guard = refused(world.room.authorize_attempt(&world.origin(), std::slice::from_ref(&request)).await);
    assert_eq!(world.standing(request.job).await, before, "a refusal changes nothing");
    guard
}

pub async fn a_claim_gives_the_next_token_and_takes_the_job_off_the_outbox(world: World) {
    let job = world.submit(at_once()).await;
    let request = world.claim_of(job).await;
    let answer = one(world.room.authorize_attempt(&world.origin(), std::slice::from_ref(&request)).await);
    assert_eq!(answer.mark, mark(2));
    let authorized = answer.step.taken().unwrap();
    assert_eq!((authorized.token, authorized.checkpoint), (Token(1), None));
    assert_eq!(authorized.spec, at_once());
    assert_eq!(world.standing(job).await, (Phase::Running, 2));
    assert!(!world.offered(job).await);
    let running = world.room.running(None, 9).await.unwrap();
    assert_eq!(running.len(), 1);
    assert_eq!((running[0].job, running[0].attempt, running[0].token), (job, request.attempt, Token(1)));
    assert_eq!((running[0].worker, running[0].epoch), (request.worker, request.epoch));
    assert_eq!((running[0].phase, running[0].mark), (Phase::Running, mark(2)));
}

pub async fn the_same_claim_again_gets_the_same_answer_while_it_has_authority(world: World) {
    let claimed = world.waiting().await;
    world.schedule(claimed.job).await;
    let request = world.claim_of(claimed.job).await;
    let first = one(world.room.authorize_attempt(&world.origin(), std::slice::from_ref(&request)).await);
    assert_eq!(
        one(world.room.authorize_attempt(&world.origin(), std::slice::from_ref(&request)).await),
        first
    );
    let second = super::world::Claimed {
        job: claimed.job,
        attempt: request.attempt,
        token: Token(2),
        authorized: first.clone().step.taken().unwrap(),
    };
    world.persist(&second, 1).await;
    world.cancel(claimed.job).await;
    assert_eq!(one(world.room.authorize_attempt(&world.origin(), &[request]).await), first);
    assert_eq!(world.view(claimed.job).await.attempts.len(), 2);
}

pub async fn the_same_claim_again_is_lost_once_it_was_revoked(world: World) {
    let job = world.submit(at_once()).await;
    let request = world.claim_of(job).await;
    let authorized =
        taken(world.room.authorize_attempt(&world.origin(), std::slice::from_ref(&request)).await);
    let claimed =
        super::world::Claimed { job, attempt: request.attempt, token: authorized.token, authorized };
    world.lose(&claimed).await;
    assert_eq!(refusal(&world, request.clone()).await, Guard::Lost);
    world.schedule(job).await;
    assert_eq!(refusal(&world, request.clone()).await, Guard::Lost);
    let second = world.claim(job).await;
    assert_eq!(refusal(&world, request.clone()).await, Guard::Lost);
    world.succeed(&second).await;
    assert_eq!(refusal(&world, request).await, Guard::Lost);
}

pub async fn a_stranger_is_refused(world: World) {
    let request = world.claim_of(world.job_id()).await;
    assert_eq!(refused(world.room.authorize_attempt(&world.origin(), &[request]).await), Guard::JobExists);
}

pub async fn a_job_that_is_not_queued_is_refused_in_every_other_phase(world: World) {
    let jobs = [
        world.running(at_once()).await,
        world.waiting().await,
        world.cancelling().await,
        world.succeeded().await,
        world.failed().await,
        world.cancelled().await,
    ];
    for claimed in jobs {
        let request = world.claim_of(claimed.job).await;
        assert_eq!(refusal(&world, request).await, Guard::PhaseQueued);
    }
}

pub async fn an_attempt_id_that_another_job_uses_is_refused(world: World) {
    let running = world.running(at_once()).await;
    let job = world.submit(at_once()).await;
    let request = AuthorizeAttempt { attempt: running.attempt, ..world.claim_of(job).await };
    assert_eq!(refusal(&world, request).await, Guard::AttemptUnused);
    assert!(world.offered(job).await);
}

pub async fn only_one_of_many_claims_of_a_job_is_taken(world: World) {
    let job = world.submit(at_once()).await;
    let mut batch = Vec::new();
    for worker in 0..10 {
        batch.push(AuthorizeAttempt { worker: Incarnation(worker), ..world.claim_of(job).await });
    }
    let answers = world.room.authorize_attempt(&world.origin(), &batch).await.unwrap();
    assert!(answers[0].step.clone().taken().is_some());
    assert!(answers[1..].iter().all(|answer| answer.step.refused() == Some(Guard::PhaseQueued)));
}

pub async fn a_claim_on_another_checkpoint_than_the_one_there_is_refused(world: World) {
    let first = world.running(at_once()).await;
    let revision = world.persist(&first, 1).await;
    world.fail(&first).await;
    world.schedule(first.job).await;
    for wrong in [0, revision - 1, revision + 1, u64::MAX] {
        let request = AuthorizeAttempt { checkpoint_revision: wrong, ..world.claim_of(first.job).await };
        assert_eq!(refusal(&world, request).await, Guard::CheckpointChanged);
    }
    world.invalidate(first.job, revision).await;
    let request = AuthorizeAttempt { checkpoint_revision: revision, ..world.claim_of(first.job).await };
    assert_eq!(refusal(&world, request).await, Guard::CheckpointChanged);
    assert_eq!(world.claim(first.job).await.authorized.checkpoint, None);
}

pub async fn a_claim_inherits_the_valid_checkpoint(world: World) {
    let first = world.running(at_once()).await;
    world.persist(&first, 1).await;
    let revision = world.persist(&first, 2).await;
    world.lose(&first).await;
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    let inherited = second.authorized.checkpoint.clone().unwrap();
    assert_eq!((inherited.revision, inherited.progress), (revision, 2));
    assert_eq!((inherited.attempt, inherited.token), (first.attempt, Token(1)));
    assert_eq!((inherited.state, inherited.manifest), (state_of(2), manifest_of(2)));
    assert_eq!((inherited.user.done, inherited.user.message.as_deref()), (20, Some("at 2")));
    world.succeed(&second).await;
    let attempts = world.view(first.job).await.attempts;
    assert_eq!((attempts[0].resumed_from, attempts[1].resumed_from), (0, 2));
}

pub async fn a_row_that_cannot_be_decoded_is_set_aside_and_its_neighbours_are_claimed(world: World) {
    let (before, bad, after) =
        (world.submit(at_once()).await, world.submit(at_once()).await, world.submit(at_once()).await);
    world.damage(bad).await;
    let batch = [world.claim_of(before).await, world.claim_of(bad).await, world.claim_of(after).await];
    let answers = world.room.authorize_attempt(&world.origin(), &batch).await.unwrap();
    assert!(answers[0].step.clone().taken().is_some() && answers[2].step.clone().taken().is_some());
    let reason = aside(Ok(vec![answers[1].clone()]));
    assert!(!world.offered(bad).await);
    assert!(world.room.waiting_windows().await.unwrap().is_empty());
    let view = world.view(bad).await;
    assert_eq!((view.summary.set_aside, view.summary.phase), (Some(reason), Phase::Queued));
    assert_eq!(view.summary.token, Token(0), "it costs no attempt");
    assert_eq!(refusal(&world, world.claim_of(bad).await).await, Guard::NotSetAside);
}

pub async fn a_row_set_aside_is_offered_again_after_retry_and_gone_after_cancel(world: World) {
    let bad = world.submit(at_once()).await;
    world.damage(bad).await;
    aside(world.room.authorize_attempt(&world.origin(), &[world.claim_of(bad).await]).await);
    let retry = Retry { job: bad, new_job: world.job_id() };
    assert_eq!(taken(world.room.retry(&world.origin(), &[retry]).await), Retried::Offered);
    assert!(world.offered(bad).await);
    assert_eq!(taken(world.room.retry(&world.origin(), &[retry]).await), Retried::Offered);
    aside(world.room.authorize_attempt(&world.origin(), &[world.claim_of(bad).await]).await);
    world.cancel(bad).await;
    let summary = world.view(bad).await.summary;
    assert_eq!((summary.phase, summary.set_aside), (Phase::Cancelled, None));
}

pub async fn authority_is_the_claimed_attempts_alone(world: World) {
    let claimed = world.running(at_once()).await;
    let asked = [
        AttemptOf { job: claimed.job, attempt: claimed.attempt },
        AttemptOf { job: claimed.job, attempt: world.attempt_id() },
        AttemptOf { job: world.job_id(), attempt: claimed.attempt },
    ];
    let read = world.room.authority(&asked).await.unwrap();
    assert_eq!(read.iter().map(|read| read.holds).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!((read[0].phase, read[0].mark), (Some(Phase::Running), mark(2)));
    assert_eq!(read[2].phase, None);
    world.cancel(claimed.job).await;
    let read = world.room.authority(&asked[..1]).await.unwrap()[0];
    assert_eq!((read.holds, read.phase, read.mark), (true, Some(Phase::Cancelling), mark(3)));
}

pub async fn the_budget_is_spent_by_claims_and_the_last_failure_ends_the_job(world: World) {
    let job = world.submit(JobSpec { max_attempts: 3, ..at_once() }).await;
    for token in 1..=3 {
        let claimed = world.claim(job).await;
        assert_eq!(claimed.token, Token(token));
        let ended = if token == 2 { world.lose(&claimed).await } else { world.fail(&claimed).await };
        if token < 3 {
            assert_eq!(ended.phase, Phase::RetryWait);
            world.schedule(job).await;
        } else {
            assert_eq!(ended.phase, Phase::Failed);
        }
    }
}
