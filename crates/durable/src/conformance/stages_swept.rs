//! Which stages are due for a sweep, when, and what must be kept.

use protocol::JobSpec;

use super::world::{Claimed, World, at_once, manifest_of, state_of, success};
use crate::{StageSwept, SweepStage};

async fn due(world: &World) -> Vec<SweepStage> {
    world.room.stages_to_sweep(100).await.unwrap()
}

async fn swept(world: &World, claimed: &Claimed, kept: bool) {
    let report = [StageSwept { job: claimed.job, attempt: claimed.attempt, kept }];
    world.room.stages_swept(&world.origin(), &report).await.unwrap();
}

pub async fn an_attempts_stage_is_due_once_after_its_end(world: World) {
    let claimed = world.running(at_once()).await;
    assert!(due(&world).await.is_empty());
    world.fail(&claimed).await;
    world.advance(70);
    let stages = due(&world).await;
    assert_eq!(stages.len(), 1);
    let stage = &stages[0];
    assert_eq!((stage.job, stage.attempt, stage.token), (claimed.job, claimed.attempt, claimed.token));
    assert_eq!(
        (stage.ended_ms_ago, stage.stopped, stage.committed, stage.terminal),
        (70, true, false, false)
    );
    assert!(stage.keep.is_empty());
    swept(&world, &claimed, false).await;
    assert!(due(&world).await.is_empty());
    swept(&world, &claimed, false).await;
    world.cancel(claimed.job).await;
    assert!(due(&world).await.is_empty(), "nothing was left");
}

pub async fn what_kept_something_is_due_again_at_the_jobs_end(world: World) {
    let first = world.running(at_once()).await;
    world.persist(&first, 1).await;
    world.lose(&first).await;
    let stages = due(&world).await;
    assert_eq!(stages[0].keep, [manifest_of(1), state_of(1)]);
    assert!(!stages[0].stopped, "a lost attempt has not said that it stopped");
    swept(&world, &first, true).await;
    assert!(due(&world).await.is_empty());
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    assert!(due(&world).await.is_empty());
    world.succeed(&second).await;
    let stages = due(&world).await;
    assert_eq!(stages.len(), 2);
    assert!(stages.iter().all(|stage| stage.terminal));
    swept(&world, &first, false).await;
    swept(&world, &second, true).await;
    assert!(due(&world).await.is_empty());
}

pub async fn a_sweep_judged_before_the_jobs_end_and_reported_after_it_is_not_the_last(world: World) {
    let first = world.running(at_once()).await;
    world.persist(&first, 1).await;
    world.fail(&first).await;
    assert_eq!(due(&world).await.len(), 1);
    world.cancel(first.job).await;
    swept(&world, &first, true).await;
    let stages = due(&world).await;
    assert_eq!((stages.len(), stages[0].terminal), (1, true));
    assert!(stages[0].keep.is_empty());
    swept(&world, &first, true).await;
    assert!(due(&world).await.is_empty(), "what is kept at the end stays");
}

pub async fn the_committed_attempt_is_swept_once_and_its_result_is_kept(world: World) {
    let claimed = world.running(at_once()).await;
    world.persist(&claimed, 1).await;
    world.succeed(&claimed).await;
    let stages = due(&world).await;
    assert_eq!((stages.len(), stages[0].committed, stages[0].terminal), (1, true, true));
    assert_eq!(stages[0].keep, [success(&claimed).result.manifest]);
    swept(&world, &claimed, true).await;
    assert!(due(&world).await.is_empty());
}

pub async fn nothing_is_kept_for_a_job_that_ended_without_a_result(world: World) {
    let failed = world.running(JobSpec { max_attempts: 1, ..at_once() }).await;
    world.persist(&failed, 1).await;
    world.fail(&failed).await;
    let cancelled = world.cancelling().await;
    super::world::taken(
        world.room.finalize_cancel(&world.origin(), &[super::world::finalize(&cancelled)]).await,
    );
    let stages = due(&world).await;
    assert_eq!(stages.len(), 2);
    assert!(stages.iter().all(|stage| stage.terminal && stage.keep.is_empty()));
    assert_eq!(world.room.checkpoint(failed.job).await.unwrap(), None);
}

pub async fn what_a_running_attempt_inherited_is_kept_beside_the_newer_checkpoint(world: World) {
    let first = world.running(at_once()).await;
    world.persist(&first, 1).await;
    world.fail(&first).await;
    world.schedule(first.job).await;
    let second = world.claim(first.job).await;
    world.persist(&second, 2).await;
    world.persist(&second, 3).await;
    let keep = &due(&world).await[0].keep;
    for document in [manifest_of(1), state_of(1), manifest_of(3), state_of(3)] {
        assert!(keep.contains(&document), "{document:?} in {keep:?}");
    }
    assert_eq!(keep.len(), 4);
    world.lose(&second).await;
    let keep = &due(&world).await[0].keep;
    assert_eq!(keep[..], [manifest_of(3), state_of(3)]);
}

pub async fn ends_that_are_known_come_first_and_then_the_oldest(world: World) {
    let (lost_early, lost_late) = (world.running(at_once()).await, world.running(at_once()).await);
    let stopped = world.running(at_once()).await;
    world.lose(&lost_early).await;
    world.advance(10);
    world.lose(&lost_late).await;
    world.advance(10);
    world.fail(&stopped).await;
    let order: Vec<_> = due(&world).await.iter().map(|stage| stage.attempt).collect();
    assert_eq!(order, [stopped.attempt, lost_early.attempt, lost_late.attempt]);
    assert_eq!(world.room.stages_to_sweep(2).await.unwrap().len(), 2);
}
