//! `RequestCancel`: in every phase, the repeat.

use protocol::{Guard, Phase};

use super::world::{World, at_once, mark, one, refused, taken};
use crate::{CancelRequested, RequestCancel};

pub async fn a_job_without_an_attempt_is_cancelled_at_once(world: World) {
    for job in [world.submit(at_once()).await, world.waiting().await.job] {
        let revision = world.standing(job).await.1 + 1;
        let answer = one(world.room.request_cancel(&world.origin(), &[RequestCancel { job }]).await);
        assert_eq!(answer.mark, mark(revision));
        assert_eq!(answer.step.taken(), Some(CancelRequested { phase: Phase::Cancelled, attempt: None }));
        assert_eq!(world.standing(job).await, (Phase::Cancelled, revision));
        assert!(!world.offered(job).await);
        assert!(world.view(job).await.summary.finished_at.is_some());
    }
    assert!(world.room.due_retries(9).await.unwrap().is_empty());
    assert!(world.room.waiting_windows().await.unwrap().is_empty());
}

pub async fn a_running_job_is_cancelling_and_its_attempt_keeps_authority(world: World) {
    let claimed = world.running(at_once()).await;
    world.advance(40);
    let job = claimed.job;
    let answer = one(world.room.request_cancel(&world.origin(), &[RequestCancel { job }]).await);
    assert_eq!(answer.mark, mark(3));
    let stands = CancelRequested { phase: Phase::Cancelling, attempt: Some(claimed.attempt) };
    assert_eq!(answer.step.taken(), Some(stands));
    world.advance(2);
    let running = &world.room.running(None, 9).await.unwrap()[0];
    assert_eq!((running.attempt, running.phase, running.mark), (claimed.attempt, Phase::Cancelling, mark(3)));
    assert_eq!(running.now.since_ms(running.cancel_requested_at.unwrap()), 2);
    assert!(world.view(job).await.summary.finished_at.is_none());
}

pub async fn the_same_cancel_again_finds_it_standing(world: World) {
    let claimed = world.cancelling().await;
    let job = claimed.job;
    let again = one(world.room.request_cancel(&world.origin(), &[RequestCancel { job }]).await);
    let stands = CancelRequested { phase: Phase::Cancelling, attempt: Some(claimed.attempt) };
    assert_eq!((again.mark, again.step.taken()), (mark(3), Some(stands)));
    let job = world.cancelled().await.job;
    let again = taken(world.room.request_cancel(&world.origin(), &[RequestCancel { job }]).await);
    assert_eq!(again, CancelRequested { phase: Phase::Cancelled, attempt: None });
}

pub async fn a_job_that_has_ended_is_refused_and_a_stranger_too(world: World) {
    for job in [world.succeeded().await.job, world.failed().await.job] {
        let before = world.standing(job).await;
        let answer = world.room.request_cancel(&world.origin(), &[RequestCancel { job }]).await;
        assert_eq!(refused(answer), Guard::Cancellable);
        assert_eq!(world.standing(job).await, before);
    }
    let stranger = RequestCancel { job: world.job_id() };
    assert_eq!(refused(world.room.request_cancel(&world.origin(), &[stranger]).await), Guard::JobExists);
}
