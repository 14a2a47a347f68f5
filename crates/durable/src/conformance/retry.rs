//! The verb `retry`, in every phase.

use protocol::{FailureCause, Guard, JobId, JobSpec, Phase, Token};

use super::world::{World, aside, at_once, failure, refused, taken};
use crate::{Retried, Retry};

fn again(world: &World, job: JobId) -> Retry {
    Retry { job, new_job: world.job_id() }
}

pub async fn a_job_that_waits_for_its_retry_is_due_now(world: World) {
    let claimed = world.running(JobSpec::default()).await;
    world.fail(&claimed).await;
    world.advance(100);
    let request = again(&world, claimed.job);
    assert_eq!(taken(world.room.retry(&world.origin(), &[request]).await), Retried::DueNow);
    assert_eq!(world.standing(claimed.job).await, (Phase::Queued, 4));
    let now = world.room.next_due().await.unwrap().now;
    assert_eq!(world.room.dispatch_read_jobs(&[claimed.job]).await.unwrap()[0].position.due, now);
    assert_eq!(taken(world.room.retry(&world.origin(), &[request]).await), Retried::DueNow);
    assert_eq!(world.standing(claimed.job).await.1, 4, "no second effect");
    assert!(world.room.job(request.new_job).await.unwrap().is_none());
    world.advance(10_000);
    assert!(world.room.due_retries(9).await.unwrap().is_empty());
    assert_eq!(world.claim(claimed.job).await.token, Token(2));
}

pub async fn an_ended_job_stays_as_it_is_and_gives_a_new_one_with_a_fresh_budget(world: World) {
    let spec = JobSpec {
        max_attempts: 7,
        args: "{\"n\": 1.0}".to_owned(),
        idempotency_key: Some("once".to_owned()),
        scheduled_at: Some(protocol::Timestamp(5)),
        ..at_once()
    };
    let failed = world.running(spec.clone()).await;
    let request = [failure(&failed, FailureCause::Permanent)];
    taken(world.room.accept_failure(&world.origin(), &request).await);
    for old in [failed.job, world.cancelled().await.job] {
        let before = world.view(old).await;
        let request = again(&world, old);
        let made = Retried::NewJob(request.new_job);
        assert_eq!(taken(world.room.retry(&world.origin(), &[request]).await), made);
        assert_eq!(world.view(old).await, before);
        let new = world.view(request.new_job).await;
        assert_eq!((new.retry_of, new.revision), (Some(old), 1));
        assert_eq!((new.summary.phase, new.summary.token), (Phase::Queued, Token(0)));
        assert_eq!(new.summary.max_attempts, before.spec.max_attempts);
        assert_eq!(new.spec, JobSpec { idempotency_key: None, scheduled_at: None, ..before.spec });
        assert!(world.offered(request.new_job).await);
        let claimed = world.claim(request.new_job).await;
        world.succeed(&claimed).await;
        assert_eq!(taken(world.room.retry(&world.origin(), &[request]).await), made);
    }
    assert_eq!(world.view(failed.job).await.spec, spec);
}

pub async fn the_new_jobs_id_must_be_new(world: World) {
    let old = world.failed().await.job;
    let taken_id = world.submit(at_once()).await;
    let request = Retry { job: old, new_job: taken_id };
    assert_eq!(refused(world.room.retry(&world.origin(), &[request]).await), Guard::SameRequest);
}

pub async fn a_job_that_goes_on_by_itself_is_refused(world: World) {
    let jobs =
        [world.submit(at_once()).await, world.running(at_once()).await.job, world.cancelling().await.job];
    for job in jobs {
        let before = world.standing(job).await;
        let answer = world.room.retry(&world.origin(), &[again(&world, job)]).await;
        assert_eq!(refused(answer), Guard::Terminal);
        assert_eq!(world.standing(job).await, before);
    }
}

pub async fn a_job_that_succeeded_is_refused_and_a_stranger_too(world: World) {
    let job = world.succeeded().await.job;
    let answer = world.room.retry(&world.origin(), &[again(&world, job)]).await;
    assert_eq!(refused(answer), Guard::Cancellable);
    let stranger = again(&world, world.job_id());
    assert_eq!(refused(world.room.retry(&world.origin(), &[stranger]).await), Guard::JobExists);
}

pub async fn an_ended_job_that_cannot_be_decoded_gives_no_new_one(world: World) {
    let job = world.failed().await.job;
    world.damage(job).await;
    let request = again(&world, job);
    let reason = aside(world.room.retry(&world.origin(), &[request]).await);
    assert!(!reason.is_empty());
    assert!(world.room.job(request.new_job).await.unwrap().is_none());
}
