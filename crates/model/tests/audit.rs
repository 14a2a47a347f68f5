//! Traces that the audit must explain although they look odd, and what is near them that it must not.

use protocol::{
    Action, ActorId, AttemptId, Detail, Event, FailureCause, Guard, Incarnation, JobId, Judged, Mark,
    Outcome, Phase, ReservationId, Room, Token,
};
use remora_model::audit::{Audit, Census, Head, Report, Source, Why};

const JOB: JobId = JobId(1);
const WORKER: Incarnation = Incarnation(7);
const AGENTS: ActorId = ActorId(9);

fn audit(events: &[Event]) -> Report {
    let source = Source { owner: true, ..Source::default() };
    let mut census = Census::default();
    for event in events {
        let Event { room, epoch, action, job, actor, sequence, .. } = *event;
        census.count(&Head { room, epoch, action, job, actor, sequence }, source);
    }
    let mut audit = Audit::new(census);
    events.iter().for_each(|event| audit.take(event.clone(), source));
    audit.finish()
}

fn event(room: Room, action: Action, order: u64) -> Event {
    Event {
        room,
        epoch: u64::from(room == Room::Coordination),
        order,
        action,
        outcome: Outcome::Taken,
        job: Some(JOB),
        token: None,
        attempt: None,
        actor: AGENTS,
        sequence: order,
        sent_after: 0,
        answered_before: None,
        detail: Detail::default(),
        judged: Vec::new(),
    }
}

fn coordination(action: Action, order: u64) -> Event {
    let event = event(Room::Coordination, action, order);
    let judged = match action {
        Action::Enqueue => vec![Judged::durable(Mark { epoch: 0, order: 1 })],
        _ => Vec::new(),
    };
    Event { judged, ..event }
}

fn durable(action: Action, order: u64, phase: Phase) -> Event {
    let detail = Detail { phase_after: Some(phase), max_attempts: Some(5), ..Detail::default() };
    Event { detail, ..event(Room::Durable, action, order) }
}

trait By: Sized {
    /// This worker's request of that number, sent when all before were answered.
    fn by_worker(self, sequence: u64) -> Self;
    fn of(self, attempt: u128, token: u32) -> Self;
    fn permit(self, permit: u128) -> Self;
}

impl By for Event {
    fn by_worker(self, sequence: u64) -> Self {
        let detail = Detail { worker: Some(WORKER), ..self.detail };
        Self { actor: WORKER.into(), sequence, sent_after: sequence - 1, detail, ..self }
    }

    fn of(self, attempt: u128, token: u32) -> Self {
        Self { attempt: Some(AttemptId(attempt)), token: Some(Token(token)), ..self }
    }

    fn permit(self, permit: u128) -> Self {
        let detail = Detail { worker: Some(WORKER), reservation: Some(ReservationId(permit)), ..self.detail };
        Self { detail, ..self }
    }
}

/// A worker stops with a permit, loses it, goes on, is given the same job a second time in its other slot, and claims it
/// with the first; the second is handed back after the first was refused its lease.
fn two_permits() -> Vec<Event> {
    let lost =
        |event: Event| Event { detail: Detail { cause: Some(FailureCause::Lost), ..event.detail }, ..event };
    vec![
        coordination(Action::Enqueue, 1),
        coordination(Action::Reserve, 2).permit(1).by_worker(1),
        coordination(Action::FalseSuspicion, 3).permit(1),
        coordination(Action::Enqueue, 4),
        coordination(Action::Reserve, 5).permit(2).by_worker(2),
        durable(Action::AuthorizeAttempt, 2, Phase::Running).of(1, 1).permit(1).by_worker(3),
        event(Room::Worker, Action::ActivateRefused, 5).of(1, 1).by_worker(5),
        coordination(Action::ClaimRefused, 6).permit(2).by_worker(6),
        coordination(Action::ReapObserve, 7).of(1, 1).by_worker(7),
        lost(durable(Action::ReapLostAttempt, 3, Phase::RetryWait).of(1, 1)),
        durable(Action::RequestCancel, 4, Phase::Cancelled),
    ]
}

#[test]
fn one_worker_may_hold_two_permits_of_a_job_one_after_the_other() {
    let report = audit(&two_permits());
    assert_eq!(report.failures, []);
}

#[test]
fn a_permit_that_was_never_given_claims_nothing() {
    let mut events = two_permits();
    events.retain(|event| {
        event.action != Action::Reserve || event.detail.reservation != Some(ReservationId(1))
    });
    events.retain(|event| event.action != Action::FalseSuspicion && event.order != 4);
    let claim = audit(&events).failures.pop().unwrap();
    assert_eq!(claim.why, Why::Guard(Action::AuthorizeAttempt, Guard::TicketHeld), "{claim}");
}

/// An attempt is reaped, and its worker's failure comes after that, is refused, and asked again.
fn refused_twice() -> Vec<Event> {
    let because = |cause: FailureCause, event: Event| Event {
        detail: Detail { cause: Some(cause), ..event.detail },
        ..event
    };
    let fail = |sequence: u64| {
        because(
            FailureCause::Failed,
            durable(Action::AcceptFailure, 3, Phase::RetryWait).of(1, 1).by_worker(sequence),
        )
    };
    let refused = |sequence| Event { outcome: Outcome::Refused(Guard::Authority), ..fail(sequence) };
    let rejected = |sequence| Event { action: Action::RejectOutcome, ..fail(sequence) };
    vec![
        coordination(Action::Enqueue, 1),
        coordination(Action::Reserve, 2).permit(1).by_worker(1),
        durable(Action::AuthorizeAttempt, 2, Phase::Running).of(1, 1).permit(1).by_worker(2),
        coordination(Action::ActivateAttempt, 3).of(1, 1).permit(1).by_worker(3),
        because(FailureCause::Failed, event(Room::Worker, Action::SendOutcome, 4).of(1, 1).by_worker(4)),
        coordination(Action::ExpireLease, 4).of(1, 1),
        coordination(Action::ReapObserve, 5).of(1, 1),
        because(FailureCause::Lost, durable(Action::ReapLostAttempt, 3, Phase::RetryWait).of(1, 1)),
        refused(5),
        rejected(5),
        refused(5),
        rejected(5),
        durable(Action::RequestCancel, 4, Phase::Cancelled),
    ]
}

#[test]
fn an_outcome_that_is_refused_is_refused_again_when_it_is_asked_again() {
    assert_eq!(audit(&refused_twice()).failures, []);
}

#[test]
fn an_outcome_is_settled_once() {
    let mut events = refused_twice();
    events[11].sequence = 6;
    // The worker's own record goes on, so that it would tell of another outcome.
    events.push(Event { job: None, ..event(Room::Worker, Action::StartIncarnation, 9).by_worker(9) });
    let failure = audit(&events).failures.pop().unwrap();
    assert_eq!(failure.why, Why::Guard(Action::RejectOutcome, Guard::OutcomePending), "{failure}");
}

/// The agents' request to end leases by age ends none and is answered; a copy of it that comes later ends one. Meanwhile
/// they act, knowing that the request was answered.
fn late_copy() -> Vec<Event> {
    let agents = |event: Event, sequence: u64| Event { sequence, sent_after: sequence - 1, ..event };
    vec![
        agents(coordination(Action::Enqueue, 1), 2),
        coordination(Action::Reserve, 2).permit(1).by_worker(1),
        durable(Action::AuthorizeAttempt, 2, Phase::Running).of(1, 1).permit(1).by_worker(2),
        coordination(Action::ActivateAttempt, 3).of(1, 1).permit(1).by_worker(3),
        agents(durable(Action::RequestCancel, 3, Phase::Cancelling).of(1, 1), 3),
        agents(coordination(Action::PublishCancelNotice, 4).of(1, 1), 4),
        Event { answered_before: Some(1), ..agents(coordination(Action::ExpireLease, 5).of(1, 1), 1) },
        event(Room::Worker, Action::CooperativeStop, 4).of(1, 1).by_worker(4),
        durable(Action::FinalizeCancel, 4, Phase::Cancelled).of(1, 1).by_worker(5),
    ]
}

#[test]
fn what_a_late_copy_did_is_not_what_its_sender_was_answered() {
    assert_eq!(audit(&late_copy()).failures, []);
    let mut events = late_copy();
    events[6].answered_before = None;
    let failure = audit(&events).failures.pop().unwrap();
    assert!(
        matches!(failure.why, Why::Order(_)),
        "as the answered request itself it fits nowhere: {failure}"
    );
}

#[test]
fn places_in_use_may_be_above_the_limit_until_running_attempts_are_accounted_for() {
    let restored = |order: u64, attempt: u128, in_use: u32| {
        let event = coordination(Action::RestoreLease, order).of(attempt, 1).by_worker(order);
        let detail = Detail { limit: Some(1), in_use: Some(in_use), ..event.detail };
        Event { job: Some(JobId(attempt)), epoch: 2, detail, ..event }
    };
    let places = |events: &[Event]| {
        let mut pool = remora_model::audit::permits::Pool::default();
        events.iter().filter_map(|event| pool.take(event)).map(|failure| failure.why).collect::<Vec<_>>()
    };
    assert_eq!(places(&[restored(1, 1, 2), restored(2, 2, 2)]), []);
    let reserved = |order: u64, in_use: u32| {
        let event = coordination(Action::Reserve, order).permit(u128::from(order)).by_worker(order);
        let detail = Detail { limit: Some(1), in_use: Some(in_use), ..event.detail };
        Event { epoch: 2, detail, ..event }
    };
    let taken = places(&[reserved(1, 1), restored(2, 1, 2)]);
    assert_eq!(
        taken,
        [Why::Broken("PermitSafety")],
        "it is open, and one that is not accounted for needs a place"
    );
}

/// The same trace, of an installation in which somebody was killed: whoever is answered records.
fn audit_cut(events: &[Event]) -> Report {
    let source = Source::default();
    let mut census = Census::default();
    for event in events {
        let Event { room, epoch, action, job, actor, sequence, .. } = *event;
        census.count(&Head { room, epoch, action, job, actor, sequence }, source);
    }
    census.cut(source.pool);
    let mut audit = Audit::new(census);
    events.iter().for_each(|event| audit.take(event.clone(), source));
    audit.finish()
}

/// The success is stored and nobody hears so; the lease is given back by somebody who has read the job's row since.
fn success_unheard() -> Vec<Event> {
    let read = |order| vec![Judged::durable(Mark { epoch: 0, order })];
    vec![
        coordination(Action::Enqueue, 1),
        coordination(Action::Reserve, 2).permit(1).by_worker(1),
        durable(Action::AuthorizeAttempt, 2, Phase::Running).of(1, 1).permit(1).by_worker(2),
        coordination(Action::ActivateAttempt, 3).of(1, 1).permit(1).by_worker(3),
        event(Room::Target, Action::AdvanceAttempt, 4).of(1, 1).by_worker(4),
        event(Room::Worker, Action::SendOutcome, 5).of(1, 1).by_worker(5),
        Event { judged: read(3), ..coordination(Action::ReleaseLease, 4).of(1, 1) },
    ]
}

#[test]
fn a_last_step_whose_answer_reached_nobody_is_known_from_what_rests_on_it() {
    assert_eq!(audit_cut(&success_unheard()).failures, []);
    let mut events = success_unheard();
    events.last_mut().unwrap().judged.clear();
    assert_eq!(audit_cut(&events).failures.len(), 1, "nothing says that the attempt has ended");
    assert_eq!(audit(&success_unheard()).failures.len(), 1, "an owner hears itself");
}

#[test]
fn a_lease_that_was_given_unheard_is_one_that_its_worker_stops_with() {
    let lost =
        |event: Event| Event { detail: Detail { cause: Some(FailureCause::Lost), ..event.detail }, ..event };
    let events = [
        coordination(Action::Enqueue, 1),
        coordination(Action::Reserve, 2).permit(1).by_worker(1),
        durable(Action::AuthorizeAttempt, 2, Phase::Running).of(1, 1).permit(1).by_worker(2),
        event(Room::Worker, Action::CooperativeStop, 4).of(1, 1).by_worker(4),
        coordination(Action::ReleaseLease, 4).of(1, 1).by_worker(5),
        coordination(Action::ReapObserve, 5).of(1, 1),
        lost(durable(Action::ReapLostAttempt, 3, Phase::RetryWait).of(1, 1)),
    ];
    assert_eq!(audit_cut(&events).failures, []);
}

/// A worker asks for its lease in the next epoch while its failure is under way, and is killed. The failure arrives first,
/// the job is queued again, and then the lease is given back; the agents end it.
fn restored_late() -> Vec<Event> {
    let failed = |event: Event| Event {
        detail: Detail { cause: Some(FailureCause::Failed), ..event.detail },
        ..event
    };
    let next = |event: Event| Event { epoch: 2, ..event };
    vec![
        coordination(Action::Enqueue, 1),
        coordination(Action::Reserve, 2).permit(1).by_worker(1),
        durable(Action::AuthorizeAttempt, 2, Phase::Running).of(1, 1).permit(1).by_worker(2),
        coordination(Action::ActivateAttempt, 3).of(1, 1).permit(1).by_worker(3),
        failed(event(Room::Worker, Action::SendOutcome, 4).of(1, 1).by_worker(4)),
        failed(durable(Action::AcceptFailure, 3, Phase::RetryWait).of(1, 1).by_worker(5)),
        durable(Action::ScheduleRetry, 4, Phase::Queued),
        next(Event {
            judged: vec![Judged::durable(Mark { epoch: 0, order: 4 })],
            ..coordination(Action::Enqueue, 1)
        }),
        next(Event { sent_after: 4, ..coordination(Action::RestoreLease, 2).of(1, 1).by_worker(6) }),
        next(coordination(Action::ReleaseLease, 3).of(1, 1)),
        durable(Action::RequestCancel, 5, Phase::Cancelled),
    ]
}

#[test]
fn a_lease_may_come_back_to_an_attempt_whose_end_its_worker_has_not_heard_of() {
    assert_eq!(audit(&restored_late()).failures, []);
    let mut events = restored_late();
    events[8].sent_after = 5;
    let failure = audit(&events).failures.pop().unwrap();
    let guard = Why::Guard(Action::RestoreLease, Guard::AttemptExecuting);
    assert_eq!(failure.why, guard, "it knew: {failure}");
}
