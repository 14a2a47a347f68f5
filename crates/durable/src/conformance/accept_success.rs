//! `AcceptSuccess`: every guard (`RejectOutcome`), the repeat, the effect.

use protocol::{AttemptId, Guard, Phase, Token, Verdict};

use super::world::{World, aside, at_once, mark, one, refused, success};
use crate::{AcceptSuccess, Document, Ended};

async fn refusal(world: &World, request: AcceptSuccess) -> Guard {
    let before = world.standing(request.job).await;
    let guard = refused(world.room.accept_success(&world.origin(), std::slice::from_ref(&request)).await);
    assert_eq!(world.standing(request.job).await, before, "a refusal changes nothing");
    assert_eq!(
        world.room.result(request.job).await.unwrap().filter(|result| result.attempt == request.attempt),
        None
    );
    guard
}

pub async fn a_success_publishes_the_result_and_ends_the_job(world: World) {
    let claimed = world.running(at_once()).await;
    assert_eq!(world.room.result(claimed.job).await.unwrap(), None);
    world.advance(1_500);
    let answer = one(world.room.accept_success(&world.origin(), &[success(&claimed)]).await);
    assert_eq!(answer.mark, mark(3));
    assert_eq!(answer.step.taken(), Some(Ended { phase: Phase::Succeeded, due: None }));
    let result = world.room.result(claimed.job).await.unwrap().unwrap();
    assert_eq!((result.job, result.attempt, result.token), (claimed.job, claimed.attempt, Token(1)));
    assert_eq!(result.record, success(&claimed).result);
    let view = world.view(claimed.job).await;
    assert_eq!(view.result.as_ref(), Some(&result));
    assert_eq!((view.summary.phase, view.summary.finished_at), (Phase::Succeeded, Some(result.at)));
    assert_eq!(view.attempts[0].verdict, Some(Verdict::Succeeded));
    assert_eq!(result.at.since_ms(view.attempts[0].started_at), 1_500);
    assert!(world.room.running(None, 9).await.unwrap().is_empty());
}

pub async fn the_same_success_again_gets_the_same_answer(world: World) {
    let claimed = world.running(at_once()).await;
    let first = one(world.room.accept_success(&world.origin(), &[success(&claimed)]).await);
    let again = one(world.room.accept_success(&world.origin(), &[success(&claimed)]).await);
    assert_eq!(again, first);
    assert_eq!(world.standing(claimed.job).await, (Phase::Succeeded, 3));
}

pub async fn a_success_without_authority_is_refused(world: World) {
    let first = world.running(at_once()).await;
    world.lose(&first).await;
    assert_eq!(refusal(&world, success(&first)).await, Guard::Authority);
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    assert_eq!(refusal(&world, success(&first)).await, Guard::Authority);
    let old_token = AcceptSuccess { token: Token(1), ..success(&second) };
    assert_eq!(refusal(&world, old_token).await, Guard::Authority);
    let other = AcceptSuccess { attempt: AttemptId(3), ..success(&second) };
    assert_eq!(refusal(&world, other).await, Guard::Authority);
    world.succeed(&second).await;
    assert_eq!(refusal(&world, success(&first)).await, Guard::Authority);
    let nobody = AcceptSuccess { job: world.job_id(), ..success(&second) };
    assert_eq!(refused(world.room.accept_success(&world.origin(), &[nobody]).await), Guard::Authority);
}

pub async fn a_success_after_a_cancel_is_refused_and_never_published(world: World) {
    let claimed = world.cancelling().await;
    assert_eq!(refusal(&world, success(&claimed)).await, Guard::PhaseRunning);
    let claimed = world.cancelled().await;
    assert_eq!(refusal(&world, success(&claimed)).await, Guard::Authority);
}

pub async fn a_success_after_the_attempts_own_failure_is_refused(world: World) {
    let claimed = world.waiting().await;
    assert_eq!(refusal(&world, success(&claimed)).await, Guard::Authority);
}

pub async fn a_manifest_over_its_limit_is_set_aside_and_its_neighbours_are_published(world: World) {
    let (before, bad, after) =
        (world.running(at_once()).await, world.running(at_once()).await, world.running(at_once()).await);
    let mut over = success(&bad);
    over.result.manifest = Document::Inline(vec![0; 65_537]);
    let mut countless = success(&bad);
    countless.result.bytes = u64::MAX;
    let batch = [success(&before), over, countless, success(&after)];
    let answers = world.room.accept_success(&world.origin(), &batch).await.unwrap();
    assert!(answers[0].step.clone().taken().is_some() && answers[3].step.clone().taken().is_some());
    assert!(aside(Ok(vec![answers[1].clone()])).contains("manifest is 65537 bytes long"));
    assert!(aside(Ok(vec![answers[2].clone()])).contains("bytes is 18446744073709551615"));
    assert_eq!(world.standing(bad.job).await, (Phase::Running, 2));
    assert_eq!(world.standing(after.job).await.0, Phase::Succeeded);
    world.succeed(&bad).await;
}
