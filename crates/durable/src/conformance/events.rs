//! What the room records of its actions (protocol §6), where the room itself records.

use protocol::{Action, Event, FailureCause, Guard, JobId, Judged, Mark, Outcome, Phase, Room, Token};

use super::world::{World, at_once, checkpoint, failure, finalize, loss, refused, success, taken};
use crate::{AuthorizeAttempt, FinalizeCancel, ReapLostAttempt, Retry};

fn judged() -> Vec<Judged> {
    vec![Judged::coordination(Mark { epoch: 1, order: 77 })]
}

/// The job's events.
fn of(events: Vec<Event>, job: JobId) -> Vec<Event> {
    events.into_iter().filter(|event| event.job == Some(job)).collect()
}

pub async fn every_action_taken_is_recorded_at_the_revision_it_made(world: World) {
    let job = world.submit(at_once()).await;
    let first = world.claim(job).await;
    let revision = world.persist(&first, 1).await;
    world.invalidate(job, revision).await;
    world.persist(&first, 2).await;
    world.fail(&first).await;
    world.schedule(job).await;
    let second = world.claim(job).await;
    world.lose(&second).await;
    let retry = Retry { job, new_job: world.job_id() };
    taken(world.room.retry(&world.origin(), &[retry]).await);
    let third = world.claim(job).await;
    world.cancel(job).await;
    taken(world.room.finalize_cancel(&world.origin(), &[finalize(&third)]).await);
    let Some(events) = world.events() else { return };
    let events = of(events, job);
    let actions: Vec<_> = events.iter().map(|event| event.action).collect();
    let expected = [
        Action::AuthorizeAttempt,
        Action::PersistCheckpoint,
        Action::InvalidateCheckpoint,
        Action::PersistCheckpoint,
        Action::AcceptFailure,
        Action::ScheduleRetry,
        Action::AuthorizeAttempt,
        Action::ReapLostAttempt,
        Action::ScheduleRetry,
        Action::AuthorizeAttempt,
        Action::RequestCancel,
        Action::FinalizeCancel,
    ];
    assert_eq!(actions, expected);
    for (event, order) in events.iter().zip(2..) {
        assert_eq!((event.room, event.epoch, event.order), (Room::Durable, 0, order));
        assert_eq!(event.outcome, Outcome::Taken);
        assert_eq!(event.detail.max_attempts, Some(25), "{event:?}");
        assert!(event.detail.phase_after.is_some(), "{event:?}");
    }
    assert!(events.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
}

pub async fn an_event_carries_the_actions_arguments_and_effect(world: World) {
    let job = world.submit(at_once()).await;
    let request = AuthorizeAttempt { judged: judged(), ..world.claim_of(job).await };
    let origin = world.origin();
    let authorized = taken(world.room.authorize_attempt(&origin, std::slice::from_ref(&request)).await);
    let claimed =
        super::world::Claimed { job, attempt: request.attempt, token: authorized.token, authorized };
    let revision = world.persist(&claimed, 4).await;
    let loss = ReapLostAttempt { judged: judged(), ..loss(&claimed) };
    taken(world.room.reap_lost_attempt(&world.origin(), &[loss]).await);
    let Some(events) = world.events() else { return };
    let [claim, persisted, reaped] = &of(events, job)[..] else { panic!("three events") };
    assert_eq!((claim.actor, claim.sequence), (origin.actor, origin.sequence));
    assert_eq!((claim.sent_after, claim.answered_before), (origin.sent_after, None));
    assert_eq!((claim.attempt, claim.token), (Some(request.attempt), Some(Token(1))));
    assert_eq!(
        (claim.detail.worker, claim.detail.reservation),
        (Some(request.worker), Some(request.reservation))
    );
    assert_eq!((claim.detail.progress, claim.detail.checkpoint_revision), (Some(0), Some(0)));
    assert_eq!((claim.detail.phase_after, &claim.judged), (Some(Phase::Running), &judged()));
    assert_eq!((persisted.attempt, persisted.token), (Some(request.attempt), Some(Token(1))));
    let detail = &persisted.detail;
    assert_eq!((detail.progress, detail.checkpoint_revision), (Some(4), Some(revision)));
    assert_eq!((detail.phase_after, detail.worker), (Some(Phase::Running), Some(request.worker)));
    assert_eq!(
        (reaped.detail.cause, reaped.detail.phase_after),
        (Some(FailureCause::Lost), Some(Phase::RetryWait))
    );
    assert_eq!(reaped.judged, judged());
}

pub async fn a_permanent_failure_records_the_lowered_budget(world: World) {
    let claimed = world.running(at_once()).await;
    taken(world.room.accept_failure(&world.origin(), &[failure(&claimed, FailureCause::Permanent)]).await);
    let Some(events) = world.events() else { return };
    let detail = &of(events, claimed.job)[1].detail;
    assert_eq!((detail.max_attempts, detail.phase_after), (Some(1), Some(Phase::Failed)));
    assert_eq!(detail.cause, Some(FailureCause::Permanent));
}

pub async fn a_refusal_is_recorded_with_its_guard_and_the_revision_that_was_seen(world: World) {
    let claimed = world.cancelling().await;
    let wrong = FinalizeCancel { attempt: world.attempt_id(), judged: judged(), ..finalize(&claimed) };
    refused(world.room.finalize_cancel(&world.origin(), &[wrong]).await);
    refused(world.room.persist_checkpoint(&world.origin(), &[checkpoint(&claimed, 1)]).await);
    refused(world.room.authorize_attempt(&world.origin(), &[world.claim_of(claimed.job).await]).await);
    let Some(events) = world.events() else { return };
    let events = of(events, claimed.job).split_off(2);
    let told: Vec<_> = events.iter().map(|event| (event.action, event.outcome)).collect();
    let expected = [
        (Action::FinalizeCancel, Outcome::Refused(Guard::Authority)),
        (Action::PersistCheckpoint, Outcome::Refused(Guard::PhaseRunning)),
        (Action::AuthorizeAttempt, Outcome::Refused(Guard::PhaseQueued)),
    ];
    assert_eq!(told, expected);
    for event in &events {
        assert_eq!((event.order, event.detail.phase_after), (3, Some(Phase::Cancelling)));
    }
}

pub async fn a_refused_outcome_is_recorded_twice_as_refused_and_as_rejected(world: World) {
    let claimed = world.cancelling().await;
    refused(world.room.accept_success(&world.origin(), &[success(&claimed)]).await);
    refused(world.room.accept_failure(&world.origin(), &[failure(&claimed, FailureCause::Failed)]).await);
    let Some(events) = world.events() else { return };
    let told: Vec<_> = of(events, claimed.job)
        .split_off(2)
        .iter()
        .map(|event| (event.action, event.outcome, event.order))
        .collect();
    let refused = Outcome::Refused(Guard::PhaseRunning);
    let expected = [
        (Action::AcceptSuccess, refused, 3),
        (Action::RejectOutcome, Outcome::Taken, 3),
        (Action::AcceptFailure, refused, 3),
        (Action::RejectOutcome, Outcome::Taken, 3),
    ];
    assert_eq!(told, expected);
}

pub async fn a_repeat_is_recorded_once(world: World) {
    let job = world.submit(at_once()).await;
    let request = world.claim_of(job).await;
    let authorized =
        taken(world.room.authorize_attempt(&world.origin(), std::slice::from_ref(&request)).await);
    let claimed =
        super::world::Claimed { job, attempt: request.attempt, token: authorized.token, authorized };
    taken(world.room.authorize_attempt(&world.origin(), &[request]).await);
    for _ in 0..2 {
        world.persist(&claimed, 1).await;
    }
    for _ in 0..2 {
        world.succeed(&claimed).await;
    }
    let Some(events) = world.events() else { return };
    let actions: Vec<_> = of(events, job).iter().map(|event| event.action).collect();
    assert_eq!(actions, [Action::AuthorizeAttempt, Action::PersistCheckpoint, Action::AcceptSuccess]);
}
