//! `ScheduleRetry`: every guard, the repeat, the effect.

use protocol::{Guard, JobSpec, Phase};

use super::world::{World, at_once, mark, one, refused, taken};
use crate::{ScheduleRetry, Scheduled};

pub async fn a_job_whose_retry_is_due_is_queued_by_its_due_time(world: World) {
    let claimed = world.running(JobSpec::default()).await;
    let due = world.fail(&claimed).await.due.unwrap();
    let job = claimed.job;
    assert_eq!(
        refused(world.room.schedule_retry(&world.origin(), &[ScheduleRetry { job }]).await),
        Guard::Due
    );
    world.advance(1_999);
    assert!(world.room.due_retries(9).await.unwrap().is_empty());
    assert_eq!(
        refused(world.room.schedule_retry(&world.origin(), &[ScheduleRetry { job }]).await),
        Guard::Due
    );
    world.advance(60_001);
    assert_eq!(world.room.due_retries(9).await.unwrap(), [ScheduleRetry { job }]);
    let answer = one(world.room.schedule_retry(&world.origin(), &[ScheduleRetry { job }]).await);
    assert_eq!((answer.mark, answer.step.taken()), (mark(4), Some(Scheduled { job })));
    assert_eq!(world.standing(job).await, (Phase::Queued, 4));
    let offered = world.room.dispatch_read_jobs(&[job]).await.unwrap();
    assert_eq!((offered[0].position.due, offered[0].mark), (due, mark(4)));
    assert!(world.room.due_retries(9).await.unwrap().is_empty());
}

pub async fn a_retry_that_was_scheduled_before_is_answered_the_same(world: World) {
    let job = world.waiting().await.job;
    let first = one(world.room.schedule_retry(&world.origin(), &[ScheduleRetry { job }]).await);
    assert_eq!(one(world.room.schedule_retry(&world.origin(), &[ScheduleRetry { job }]).await), first);
    assert_eq!(world.standing(job).await.1, first.mark.order, "no second effect");
}

pub async fn a_job_that_does_not_wait_is_refused(world: World) {
    let jobs = [
        world.submit(at_once()).await,
        world.running(at_once()).await.job,
        world.cancelling().await.job,
        world.succeeded().await.job,
        world.failed().await.job,
        world.cancelled().await.job,
        world.job_id(),
    ];
    for job in jobs {
        let answer = world.room.schedule_retry(&world.origin(), &[ScheduleRetry { job }]).await;
        assert_eq!(refused(answer), Guard::PhaseRetryWait);
    }
}

pub async fn the_longest_due_come_first_and_no_more_than_asked_for(world: World) {
    let mut waiting = Vec::new();
    for _ in 0..5 {
        waiting.push(world.waiting().await.job);
        world.advance(10);
    }
    let due = world.room.due_retries(3).await.unwrap();
    assert_eq!(due.iter().map(|due| due.job).collect::<Vec<_>>(), waiting[..3]);
    let batch: Vec<_> = waiting.iter().map(|job| ScheduleRetry { job: *job }).collect();
    let answers = world.room.schedule_retry(&world.origin(), &batch).await.unwrap();
    assert!(answers.into_iter().all(|answer| answer.step.taken().is_some()));
}

pub async fn the_next_due_time_is_the_earliest_of_retries_and_scheduled_jobs(world: World) {
    let now = world.room.next_due().await.unwrap().now;
    assert_eq!(world.room.next_due().await.unwrap().at, None);
    let claimed = world.running(JobSpec::default()).await;
    world.fail(&claimed).await;
    assert_eq!(world.room.next_due().await.unwrap().at, Some(now.plus_ms(2_000)));
    let at = now.plus_ms(700);
    let job = world.submit(JobSpec { scheduled_at: Some(at), ..JobSpec::default() }).await;
    assert_eq!(world.room.next_due().await.unwrap().at, Some(at));
    world.cancel(job).await;
    assert_eq!(world.room.next_due().await.unwrap().at, Some(now.plus_ms(2_000)));
    world.advance(2_000);
    let next = world.room.next_due().await.unwrap();
    assert_eq!((next.now, next.at), (now.plus_ms(2_000), None), "what is due is not next");
    taken(world.room.schedule_retry(&world.origin(), &[ScheduleRetry { job: claimed.job }]).await);
}
