//! `PersistCheckpoint`: every guard, the repeat, the effect.

use protocol::{AttemptId, Guard, Phase, Token, UserProgress};

use super::world::{World, aside, at_once, checkpoint, manifest_of, mark, one, refused, state_of, taken};
use crate::{Document, PersistCheckpoint};

async fn refusal(world: &World, request: PersistCheckpoint) -> Guard {
    let before = world.standing(request.job).await;
    let guard = refused(world.room.persist_checkpoint(&world.origin(), std::slice::from_ref(&request)).await);
    assert_eq!(world.standing(request.job).await, before, "a refusal changes nothing");
    guard
}

pub async fn a_checkpoint_becomes_what_the_next_attempt_starts_from(world: World) {
    let claimed = world.running(at_once()).await;
    assert_eq!(world.room.checkpoint(claimed.job).await.unwrap(), None);
    let answer = one(world.room.persist_checkpoint(&world.origin(), &[checkpoint(&claimed, 1)]).await);
    assert_eq!(answer.mark, mark(3));
    assert_eq!(answer.step.taken().unwrap().checkpoint_revision, 3);
    let stored = world.room.checkpoint(claimed.job).await.unwrap().unwrap();
    assert_eq!((stored.revision, stored.attempt, stored.token), (3, claimed.attempt, Token(1)));
    assert_eq!((stored.progress, stored.state, stored.manifest), (1, state_of(1), manifest_of(1)));
    assert_eq!(stored.at, world.room.next_due().await.unwrap().now);
    let view = world.view(claimed.job).await;
    assert_eq!((view.checkpoint_revision, view.summary.progress.unwrap().done), (3, 10));
    assert_eq!(world.persist(&claimed, 5).await, 4);
    assert_eq!(world.room.checkpoint(claimed.job).await.unwrap().unwrap().progress, 5);
}

pub async fn the_same_checkpoint_again_gets_the_same_answer(world: World) {
    let claimed = world.running(at_once()).await;
    let request = [checkpoint(&claimed, 1)];
    let first = one(world.room.persist_checkpoint(&world.origin(), &request).await);
    let again = || async { one(world.room.persist_checkpoint(&world.origin(), &request).await) };
    assert_eq!(again().await, first);
    assert_eq!(world.standing(claimed.job).await.1, 3, "no second effect");
    world.cancel(claimed.job).await;
    assert_eq!(again().await, first);
    taken(world.room.finalize_cancel(&world.origin(), &[super::world::finalize(&claimed)]).await);
    assert_eq!(again().await, first);
}

pub async fn only_the_attempt_with_authority_can(world: World) {
    let first = world.running(at_once()).await;
    world.lose(&first).await;
    assert_eq!(refusal(&world, checkpoint(&first, 1)).await, Guard::Authority);
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    assert_eq!(refusal(&world, checkpoint(&first, 1)).await, Guard::Authority);
    let wrong_token = PersistCheckpoint { token: Token(1), ..checkpoint(&second, 1) };
    assert_eq!(refusal(&world, wrong_token).await, Guard::Authority);
    let stranger = PersistCheckpoint { attempt: AttemptId(1), ..checkpoint(&second, 1) };
    assert_eq!(refusal(&world, stranger).await, Guard::Authority);
    let nobody = PersistCheckpoint { job: world.job_id(), ..checkpoint(&second, 1) };
    assert_eq!(refused(world.room.persist_checkpoint(&world.origin(), &[nobody]).await), Guard::Authority);
}

pub async fn a_job_that_is_cancelling_is_refused(world: World) {
    let claimed = world.cancelling().await;
    assert_eq!(refusal(&world, checkpoint(&claimed, 1)).await, Guard::PhaseRunning);
}

pub async fn progress_must_be_positive_and_above_the_attempts_own(world: World) {
    let first = world.running(at_once()).await;
    assert_eq!(refusal(&world, checkpoint(&first, 0)).await, Guard::ProgressPositive);
    world.persist(&first, 4).await;
    assert_eq!(refusal(&world, checkpoint(&first, 3)).await, Guard::CheckpointAdvances);
    world.fail(&first).await;
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    for inherited in [1, 4] {
        assert_eq!(refusal(&world, checkpoint(&second, inherited)).await, Guard::CheckpointAdvances);
    }
    world.persist(&second, 5).await;
}

pub async fn after_a_bad_checkpoint_the_next_attempt_counts_from_one_again(world: World) {
    let first = world.running(at_once()).await;
    let revision = world.persist(&first, 7).await;
    world.invalidate(first.job, revision).await;
    assert_eq!(refusal(&world, checkpoint(&first, 6)).await, Guard::CheckpointAdvances);
    world.fail(&first).await;
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    world.persist(&second, 1).await;
    assert_eq!(world.room.checkpoint(first.job).await.unwrap().unwrap().progress, 1);
}

pub async fn the_jobs_own_progress_is_data_and_may_be_any_number(world: World) {
    let claimed = world.running(at_once()).await;
    let odd =
        UserProgress { done: u64::MAX, total: Some(0), message: Some("größer\n als \"alles\"".to_owned()) };
    for (progress, user) in [(1, odd.clone()), (2, UserProgress::default()), (3, odd)] {
        let request = PersistCheckpoint { user: user.clone(), ..checkpoint(&claimed, progress) };
        taken(world.room.persist_checkpoint(&world.origin(), &[request]).await);
        assert_eq!(world.room.checkpoint(claimed.job).await.unwrap().unwrap().user, user);
        assert_eq!(world.view(claimed.job).await.summary.progress, Some(user));
    }
}

pub async fn documents_read_back_byte_for_byte(world: World) {
    let claimed = world.running(at_once()).await;
    let all: Vec<u8> = (0..=255).collect();
    let stored = Document::Stored { key: "a b/%#~ü".to_owned(), length: 67_108_864, digest: [255; 32] };
    for (progress, state, manifest) in
        [(1, Document::Inline(all), stored.clone()), (2, stored, Document::empty())]
    {
        let request = PersistCheckpoint {
            state: state.clone(),
            manifest: manifest.clone(),
            ..checkpoint(&claimed, progress)
        };
        taken(world.room.persist_checkpoint(&world.origin(), &[request]).await);
        let read = world.room.checkpoint(claimed.job).await.unwrap().unwrap();
        assert_eq!((read.state, read.manifest), (state, manifest));
    }
}

pub async fn a_document_over_its_limit_is_set_aside_with_its_size_and_the_limit(world: World) {
    let claimed = world.running(at_once()).await;
    let limit = PersistCheckpoint { state: Document::Inline(vec![7; 65_536]), ..checkpoint(&claimed, 1) };
    taken(world.room.persist_checkpoint(&world.origin(), &[limit]).await);
    let over = PersistCheckpoint { manifest: Document::Inline(vec![7; 65_537]), ..checkpoint(&claimed, 2) };
    let reason = aside(world.room.persist_checkpoint(&world.origin(), &[over]).await);
    assert!(reason.contains("manifest is 65537 bytes long; allowed is at most 65536"), "{reason}");
    assert_eq!(world.standing(claimed.job).await, (Phase::Running, 3));
}

pub async fn a_thousand_checkpoints_leave_one(world: World) {
    let claimed = world.running(at_once()).await;
    let batch: Vec<_> = (1..=1_000).map(|progress| checkpoint(&claimed, progress)).collect();
    let answers = world.room.persist_checkpoint(&world.origin(), &batch).await.unwrap();
    assert!(answers.into_iter().all(|answer| answer.step.taken().is_some()));
    assert_eq!(world.room.checkpoint(claimed.job).await.unwrap().unwrap().progress, 1_000);
    world.fail(&claimed).await;
    let due = world.room.stages_to_sweep(9).await.unwrap();
    assert_eq!(due[0].keep, [manifest_of(1_000), state_of(1_000)]);
}
