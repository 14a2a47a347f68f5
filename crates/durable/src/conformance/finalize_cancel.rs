//! `FinalizeCancel`: every guard, the repeat, the effect.

use protocol::{AttemptId, Guard, Judged, Mark, Phase, Verdict};

use super::world::{World, at_once, finalize, mark, one, refused, taken};
use crate::{Ended, FinalizeCancel};

pub async fn the_attempt_loses_its_authority_and_the_job_is_cancelled(world: World) {
    let claimed = world.cancelling().await;
    let answer = one(world.room.finalize_cancel(&world.origin(), &[finalize(&claimed)]).await);
    assert_eq!(answer.mark, mark(4));
    assert_eq!(answer.step.taken(), Some(Ended { phase: Phase::Cancelled, due: None }));
    assert_eq!(world.standing(claimed.job).await, (Phase::Cancelled, 4));
    assert!(world.room.running(None, 9).await.unwrap().is_empty());
    let view = world.view(claimed.job).await;
    assert_eq!(view.attempts[0].verdict, Some(Verdict::Cancelled));
    assert_eq!(view.summary.finished_at, view.attempts[0].ended_at);
}

pub async fn the_same_end_again_gets_the_same_answer(world: World) {
    let claimed = world.cancelling().await;
    let first = one(world.room.finalize_cancel(&world.origin(), &[finalize(&claimed)]).await);
    assert_eq!(one(world.room.finalize_cancel(&world.origin(), &[finalize(&claimed)]).await), first);
    assert_eq!(world.standing(claimed.job).await.1, 4, "no second effect");
}

pub async fn a_job_that_is_not_cancelling_is_refused(world: World) {
    let jobs = [
        world.running(at_once()).await,
        world.waiting().await,
        world.succeeded().await,
        world.failed().await,
    ];
    for claimed in &jobs {
        let answer = world.room.finalize_cancel(&world.origin(), &[finalize(claimed)]).await;
        assert_eq!(refused(answer), Guard::PhaseCancelling);
    }
    let stranger = FinalizeCancel { job: world.job_id(), ..finalize(&jobs[0]) };
    assert_eq!(
        refused(world.room.finalize_cancel(&world.origin(), &[stranger]).await),
        Guard::PhaseCancelling
    );
}

pub async fn another_attempt_than_the_one_with_authority_is_refused(world: World) {
    let first = world.waiting().await;
    world.schedule(first.job).await;
    world.claim(first.job).await;
    world.cancel(first.job).await;
    for attempt in [first.attempt, AttemptId(3)] {
        let request = FinalizeCancel { job: first.job, attempt, judged: Vec::new() };
        assert_eq!(refused(world.room.finalize_cancel(&world.origin(), &[request]).await), Guard::Authority);
    }
    assert_eq!(world.standing(first.job).await.0, Phase::Cancelling);
}

pub async fn a_canceller_that_has_only_judged_leaves_the_stage_to_time(world: World) {
    let (told, judged) = (world.cancelling().await, world.cancelling().await);
    taken(world.room.finalize_cancel(&world.origin(), &[finalize(&told)]).await);
    let seen = vec![Judged::coordination(Mark { epoch: 1, order: 9 })];
    let request = FinalizeCancel { judged: seen, ..finalize(&judged) };
    taken(world.room.finalize_cancel(&world.origin(), &[request]).await);
    let due = world.room.stages_to_sweep(9).await.unwrap();
    let stopped: Vec<_> = due.iter().map(|stage| (stage.attempt, stage.stopped)).collect();
    assert_eq!(stopped, [(told.attempt, true), (judged.attempt, false)]);
}
