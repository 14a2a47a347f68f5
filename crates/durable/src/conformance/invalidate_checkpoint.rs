//! `InvalidateCheckpoint`: every guard, the repeat, the effect.

use protocol::{Guard, JobId, Phase, Token};

use super::world::{World, at_once, mark, one, refused};
use crate::{InvalidateCheckpoint, Invalidated};

fn bad(job: JobId, checkpoint_revision: u64) -> [InvalidateCheckpoint; 1] {
    [InvalidateCheckpoint { job, checkpoint_revision, reason: "p/000001 is gone".to_owned() }]
}

pub async fn a_bad_checkpoint_is_never_used_again_and_costs_no_attempt(world: World) {
    let first = world.running(at_once()).await;
    let revision = world.persist(&first, 3).await;
    world.fail(&first).await;
    world.schedule(first.job).await;
    let answer = one(world.room.invalidate_checkpoint(&world.origin(), &bad(first.job, revision)).await);
    assert_eq!(answer.mark, mark(6));
    assert_eq!(answer.step.taken(), Some(Invalidated { checkpoint_revision: revision }));
    assert_eq!(world.room.checkpoint(first.job).await.unwrap(), None);
    let offered = &world.room.dispatch_read_jobs(&[first.job]).await.unwrap()[0];
    assert_eq!((offered.checkpoint_revision, offered.mark), (0, mark(6)));
    assert_eq!(world.view(first.job).await.checkpoint_revision, 0);
    let second = world.claim(first.job).await;
    assert_eq!((second.token, second.authorized.checkpoint), (Token(2), None));
}

pub async fn the_same_judgement_again_gets_the_same_answer(world: World) {
    let claimed = world.running(at_once()).await;
    let revision = world.persist(&claimed, 3).await;
    let again = || async {
        one(world.room.invalidate_checkpoint(&world.origin(), &bad(claimed.job, revision)).await)
    };
    let first = again().await;
    assert_eq!(again().await, first);
    world.fail(&claimed).await;
    assert_eq!(again().await, first);
    world.cancel(claimed.job).await;
    assert_eq!(again().await, first);
}

pub async fn an_old_judgement_never_throws_away_a_newer_checkpoint(world: World) {
    let claimed = world.running(at_once()).await;
    let old = world.persist(&claimed, 1).await;
    let new = world.persist(&claimed, 2).await;
    for wrong in [0, old, new + 1, u64::MAX] {
        let answer = world.room.invalidate_checkpoint(&world.origin(), &bad(claimed.job, wrong)).await;
        assert_eq!(refused(answer), Guard::CheckpointChanged);
    }
    assert_eq!(world.room.checkpoint(claimed.job).await.unwrap().unwrap().revision, new);
}

pub async fn a_job_without_a_valid_checkpoint_is_refused(world: World) {
    let claimed = world.running(at_once()).await;
    for job in [claimed.job, world.job_id()] {
        let answer = world.room.invalidate_checkpoint(&world.origin(), &bad(job, 1)).await;
        assert_eq!(refused(answer), Guard::CheckpointValid);
    }
    let revision = world.persist(&claimed, 1).await;
    world.invalidate(claimed.job, revision).await;
    let answer = world.room.invalidate_checkpoint(&world.origin(), &bad(claimed.job, revision + 1)).await;
    assert_eq!(refused(answer), Guard::CheckpointValid);
}

pub async fn a_job_that_has_ended_is_refused(world: World) {
    let claimed = world.running(at_once()).await;
    let revision = world.persist(&claimed, 1).await;
    world.succeed(&claimed).await;
    let answer = world.room.invalidate_checkpoint(&world.origin(), &bad(claimed.job, revision)).await;
    assert_eq!(refused(answer), Guard::NotTerminal);
    assert_eq!(world.standing(claimed.job).await, (Phase::Succeeded, 4));
}

pub async fn what_a_running_attempt_inherited_outlives_its_invalidation(world: World) {
    let first = world.running(at_once()).await;
    let revision = world.persist(&first, 1).await;
    world.lose(&first).await;
    world.schedule(first.job).await;
    let request = world.claim_of(first.job).await;
    let claim = one(world.room.authorize_attempt(&world.origin(), std::slice::from_ref(&request)).await);
    world.invalidate(first.job, revision).await;
    assert_eq!(one(world.room.authorize_attempt(&world.origin(), &[request]).await), claim);
    let keep = &world.room.stages_to_sweep(9).await.unwrap()[0].keep;
    assert_eq!(keep.len(), 2, "state and manifest: {keep:?}");
}
