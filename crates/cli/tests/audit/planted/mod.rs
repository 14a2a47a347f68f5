//! Broken rooms, each caught by the audit and named.
//!
//! A small run asks the real embedded rooms for what they must refuse, and they record the refusal. A planted fault
//! turns that refusal into what a room without the guard would have recorded: the step was taken, and the job's
//! later revisions are one higher. So the events are those of a real run but for the one that the fault changes.
//! Four faults are not a room's, but those of who asks it (a result published too early), of a sweep, or of a
//! number in an event; they are written into the trace as they would have come.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod stage;

use self::stage::{Held, LEASE_MS, Stage};
use model::audit::{Audit, Census, Head, Report, Source, Why};
use protocol::{Action, ActorId, Detail, Event, Guard, Judged, Mark, Outcome, Phase, Room, Token};

/// Audits events as if they had been read from one file.
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

/// The last refusal of this action by this guard is taken instead, and the job stands in this phase afterwards.
fn without(mut events: Vec<Event>, action: Action, guard: Guard, phase: Option<Phase>) -> Vec<Event> {
    let refused = |event: &Event| event.action == action && event.outcome == Outcome::Refused(guard);
    let place = events.iter().rposition(refused).expect("the real room refused it");
    let job = events[place].job;
    if events[place].room == Room::Durable {
        for event in &mut events[place..] {
            event.order += u64::from(event.room == Room::Durable && event.job == job);
        }
        events[place].detail.phase_after = phase;
    }
    events[place].outcome = Outcome::Taken;
    let sequence = events[place].sequence;
    events.retain(|event| !(event.action == Action::RejectOutcome && event.sequence == sequence));
    events
}

/// A fault: how the trace came about, what fits nowhere, and why.
struct Planted {
    name: &'static str,
    run: fn() -> Vec<Event>,
    action: Action,
    why: Why,
}

fn fault(name: &'static str, action: Action, guard: Guard, run: fn() -> Vec<Event>) -> Planted {
    Planted { name, run, action, why: Why::Guard(action, guard) }
}

/// The first worker's attempt was lost, and the second one's executes.
fn zombie() -> (Stage, Held, Held) {
    let stage = Stage::new(10);
    let job = stage.submit();
    let old = stage.execute(&stage.first, job);
    stage.lose_worker(&stage.first, &old);
    let new = stage.execute(&stage.second, job);
    (stage, old, new)
}

fn running() -> (Stage, Held) {
    let stage = Stage::new(10);
    let job = stage.submit();
    let held = stage.execute(&stage.first, job);
    (stage, held)
}

fn planted() -> Vec<Planted> {
    let mut all = of_durable();
    all.extend(of_coordination());
    all.extend(of_places());
    all.extend(of_others());
    all
}

fn of_durable() -> Vec<Planted> {
    vec![
        fault("a compare-and-swap without the token", Action::AcceptSuccess, Guard::Authority, || {
            let (stage, old, _) = zombie();
            stage.succeed(&stage.first, &old);
            without(stage.events(), Action::AcceptSuccess, Guard::Authority, Some(Phase::Succeeded))
        }),
        fault("a reaper that names the job only", Action::ReapLostAttempt, Guard::Authority, || {
            let (stage, old, _) = zombie();
            let observed = stage.observe(&stage.first, &old);
            // Seen and reaped before; a second reaper comes late with the same judgement.
            stage.reap(&Held { attempt: protocol::AttemptId(old.attempt.0 ^ 1), ..old }, observed);
            without(stage.events(), Action::ReapLostAttempt, Guard::Authority, Some(Phase::RetryWait))
        }),
        fault("a zombie's checkpoint", Action::PersistCheckpoint, Guard::Authority, || {
            let (stage, old, _) = zombie();
            stage.checkpoint(&stage.first, &old, 1);
            without(stage.events(), Action::PersistCheckpoint, Guard::Authority, Some(Phase::Running))
        }),
        fault("a cancel after the result was published", Action::RequestCancel, Guard::Cancellable, || {
            let (stage, held) = running();
            stage.succeed(&stage.first, &held);
            stage.cancel(held.job);
            without(stage.events(), Action::RequestCancel, Guard::Cancellable, Some(Phase::Cancelled))
        }),
        fault("a result published over a cancel", Action::AcceptSuccess, Guard::PhaseRunning, || {
            let (stage, held) = running();
            stage.cancel(held.job);
            stage.succeed(&stage.first, &held);
            without(stage.events(), Action::AcceptSuccess, Guard::PhaseRunning, Some(Phase::Succeeded))
        }),
        fault("a terminal job queued again", Action::ScheduleRetry, Guard::PhaseRetryWait, || {
            let (stage, held) = running();
            stage.succeed(&stage.first, &held);
            stage.schedule(held.job);
            without(stage.events(), Action::ScheduleRetry, Guard::PhaseRetryWait, Some(Phase::Queued))
        }),
        fault("a token given twice", Action::AuthorizeAttempt, Guard::AttemptUnused, || {
            let (stage, _, new) = zombie();
            let mut events = stage.events();
            let second = events.iter_mut().filter(|event| event.attempt == Some(new.attempt));
            second.filter(|event| event.token.is_some()).for_each(|event| event.token = Some(Token(1)));
            events
        }),
    ]
}

fn of_coordination() -> Vec<Planted> {
    vec![
        fault("a lease kept by the worker's name", Action::RenewLease, Guard::LeaseLive, || {
            let (stage, held) = running();
            stage.wait(LEASE_MS / 3);
            stage.renew(&stage.second, &held);
            without(stage.events(), Action::RenewLease, Guard::LeaseLive, None)
        }),
        fault("a lease released twice", Action::ReleaseLease, Guard::LeaseLive, || {
            let (stage, held) = running();
            stage.succeed(&stage.first, &held);
            stage.release(&stage.first, &held);
            stage.release(&stage.first, &held);
            without(stage.events(), Action::ReleaseLease, Guard::LeaseLive, None)
        }),
        fault("a running job enqueued", Action::Enqueue, Guard::DispatchSeen, || {
            let (stage, held) = running();
            stage.enqueue(held.job, None);
            without(stage.events(), Action::Enqueue, Guard::LeaseNotLive, None)
        }),
        fault(
            "an activation with somebody else's permit",
            Action::ActivateAttempt,
            Guard::ReservationHeld,
            || {
                let stage = Stage::new(10);
                let job = stage.submit();
                stage.enqueue(job, None);
                let lost = stage.reserve(&stage.first).unwrap();
                stage.lose();
                stage.enqueue(job, None);
                stage.reserve(&stage.second).unwrap();
                let held = stage.claim(&stage.first, job, lost).unwrap();
                stage.activate(&stage.first, &held);
                without(stage.events(), Action::ActivateAttempt, Guard::ReservationHeld, None)
            },
        ),
        fault("a lease restored that had ended by age", Action::RestoreLease, Guard::LeaseEndedByAge, || {
            let (stage, held) = running();
            stage.lose();
            stage.restore(&stage.first, &held);
            stage.expire();
            stage.restore(&stage.first, &held);
            without(stage.events(), Action::RestoreLease, Guard::GraceOver, None)
        }),
    ]
}

fn of_places() -> Vec<Planted> {
    vec![
        Planted {
            name: "more places than there are",
            action: Action::Reserve,
            why: Why::Broken("PermitSafety"),
            run: || {
                let stage = Stage::new(2);
                let jobs = [stage.submit(), stage.submit()];
                for job in jobs {
                    stage.execute(&stage.first, job);
                }
                let mut events = stage.events();
                events.iter_mut().for_each(|event| event.detail.limit = event.detail.limit.map(|_| 1));
                events
            },
        },
        Planted {
            name: "a place given back twice",
            action: Action::ReleaseLease,
            why: Why::Effect {
                what: "places in use",
                recorded: "0".to_owned(),
                replayed: "at least 1".to_owned(),
            },
            run: || {
                let stage = Stage::new(2);
                let jobs = [stage.submit(), stage.submit()];
                let [held, _] = jobs.map(|job| stage.execute(&stage.first, job));
                stage.succeed(&stage.first, &held);
                stage.release(&stage.first, &held);
                let mut events = stage.events();
                let last = events.last_mut().unwrap();
                last.detail.in_use = last.detail.in_use.map(|in_use| in_use - 1);
                events
            },
        },
    ]
}

fn of_others() -> Vec<Planted> {
    vec![
        fault("the stage of a living attempt swept", Action::CleanupStage, Guard::AuthorityLost, || {
            let (stage, held) = running();
            stage.checkpoint(&stage.first, &held, 1);
            let mut events = stage.events();
            let checkpoint = events.last().unwrap().clone();
            events.push(Event {
                room: Room::Target,
                action: Action::CleanupStage,
                detail: Detail::default(),
                judged: vec![Judged::durable(Mark { epoch: 0, order: checkpoint.order })],
                actor: ActorId(99),
                sequence: 1_000,
                sent_after: 0,
                ..checkpoint
            });
            stage.checkpoint(&stage.first, &held, 2);
            events.extend(stage.events().split_off(events.len() - 1));
            events
        }),
        fault(
            "a result published before it was written",
            Action::AcceptSuccess,
            Guard::StageComplete,
            || {
                let (stage, held) = running();
                stage.checkpoint(&stage.first, &held, 1);
                stage.publish(&stage.first, &held);
                stage.advance(&stage.first, &held, None);
                stage.events()
            },
        ),
    ]
}

#[test]
fn every_planted_fault_is_caught_and_its_action_named() {
    let all = planted();
    assert!(all.len() >= 10);
    for Planted { name, run, action, why } in all {
        let report = audit(&run());
        let found =
            report.failures.iter().any(|failure| failure.event.action == action && failure.why == why);
        let said: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
        assert!(found, "{name}: {said:?}");
    }
}

#[test]
fn the_same_runs_without_a_fault_are_explained() {
    let stage = Stage::new(10);
    let job = stage.submit();
    let old = stage.execute(&stage.first, job);
    stage.wait(LEASE_MS / 3);
    stage.renew(&stage.first, &old);
    stage.checkpoint(&stage.first, &old, 1);
    stage.lose_worker(&stage.first, &old);
    let new = stage.execute(&stage.second, job);
    stage.checkpoint(&stage.first, &old, 2);
    stage.stop(&stage.first, &old);
    stage.lose();
    stage.restore(&stage.second, &new);
    stage.checkpoint(&stage.second, &new, 2);
    stage.succeed(&stage.second, &new);
    stage.release(&stage.second, &new);
    stage.cancel(job);

    let cancelled = stage.submit();
    let held = stage.execute(&stage.first, cancelled);
    stage.cancel(cancelled);
    stage.notice(&held);
    stage.stop(&stage.first, &held);
    stage.finalize(&stage.first, &held);
    stage.release(&stage.first, &held);

    let failing = stage.submit();
    let held = stage.execute(&stage.first, failing);
    stage.enqueue(failing, None);
    stage.fail(&stage.first, &held);
    stage.release(&stage.first, &held);

    let report = audit(&stage.events());
    assert_eq!(report.failures, []);
    assert_eq!((report.jobs, report.attempts, report.losses), (3, 4, 1));
}

#[test]
fn a_refused_claim_and_its_hand_back_are_explained() {
    let stage = Stage::new(10);
    let job = stage.submit();
    stage.enqueue(job, None);
    let lost = stage.reserve(&stage.first).unwrap();
    stage.lose();
    stage.enqueue(job, None);
    let kept = stage.reserve(&stage.second).unwrap();
    let held = stage.claim(&stage.second, job, kept).unwrap();
    assert!(stage.claim(&stage.first, job, lost).is_none());
    stage.hand_back(&stage.first, job, lost.0);
    stage.activate(&stage.second, &held);
    stage.succeed(&stage.second, &held);
    let report = audit(&stage.events());
    assert_eq!(report.failures, []);
    assert_eq!((report.jobs, report.attempts), (1, 1));
}

#[test]
fn an_activation_whose_answer_was_lost_is_explained() {
    let stage = Stage::new(10);
    let job = stage.submit();
    let frozen = stage.execute(&stage.first, job);
    stage.lose_worker(&stage.first, &frozen);
    stage.record(&stage.first, Action::ActivateRefused, Some(&frozen), Detail::default());
    assert_eq!(audit(&stage.events()).failures, []);
}

/// Events as an owner leaves them that was killed with these many of the stores' events unwritten: it takes coordination
/// with it, and its next start begins a new file.
fn killed(events: &[Event], unwritten: usize) -> (Vec<(Event, Source)>, usize) {
    let lost = events.iter().position(|event| event.action == Action::LoseCoordinationState).unwrap();
    let mut left = unwritten;
    let mut kept = Vec::new();
    for (place, event) in events.iter().enumerate().rev() {
        let of_store = matches!(event.room, Room::Durable | Room::Coordination);
        let raises = event.outcome == Outcome::Taken && event.action != Action::RejectOutcome;
        if place == lost {
            continue;
        }
        if place < lost && of_store && left > 0 {
            left -= usize::from(raises);
            continue;
        }
        let segment = u64::from(place > lost && of_store);
        kept.push((event.clone(), Source { segment, owner: true, ..Source::default() }));
    }
    kept.reverse();
    (kept, unwritten - left)
}

fn audit_files(events: &[(Event, Source)], cut: bool) -> Report {
    let mut census = Census::default();
    for (event, source) in events {
        let Event { room, epoch, action, job, actor, sequence, .. } = *event;
        census.count(&Head { room, epoch, action, job, actor, sequence }, *source);
    }
    if cut {
        census.cut(0);
    }
    let mut audit = Audit::new(census);
    events.iter().for_each(|(event, source)| audit.take(event.clone(), *source));
    audit.finish()
}

/// Runs in which coordination is lost once, with much before it and much after it.
fn with_one_loss() -> Vec<(&'static str, Vec<Event>)> {
    let restored = {
        let (stage, held) = running();
        stage.checkpoint(&stage.first, &held, 1);
        stage.checkpoint(&stage.first, &held, 2);
        stage.lose();
        stage.restore(&stage.first, &held);
        stage.checkpoint(&stage.first, &held, 3);
        stage.succeed(&stage.first, &held);
        stage.release(&stage.first, &held);
        stage.events()
    };
    let claimed_and_reaped = {
        let (stage, held) = running();
        stage.lose();
        stage.wait(2 * LEASE_MS);
        let observed = stage.observe(&stage.first, &held);
        stage.reap(&held, observed);
        stage.schedule(held.job);
        let next = stage.execute(&stage.second, held.job);
        stage.succeed(&stage.second, &next);
        stage.events()
    };
    let published = {
        let (stage, held) = running();
        stage.checkpoint(&stage.first, &held, 1);
        stage.succeed(&stage.first, &held);
        stage.release(&stage.first, &held);
        stage.lose();
        stage.cancel(held.job);
        stage.events()
    };
    let cancelling = {
        let (stage, held) = running();
        stage.cancel(held.job);
        stage.lose();
        stage.notice(&held);
        stage.stop(&stage.first, &held);
        stage.finalize(&stage.first, &held);
        stage.events()
    };
    vec![
        ("a lease restored", restored),
        ("a claim of a worker that died, too", claimed_and_reaped),
        ("a result published", published),
        ("a cancel requested", cancelling),
    ]
}

#[test]
fn what_a_killed_owner_had_not_written_is_put_where_it_explains_what_follows() {
    for (name, events) in with_one_loss() {
        for unwritten in 0..=6 {
            let (kept, dropped) = killed(&events, unwritten);
            let report = audit_files(&kept, false);
            assert_eq!(report.failures, [], "{name}, {dropped} events unwritten");
        }
    }
}

#[test]
fn a_revision_without_an_event_is_a_fault_where_nobody_was_killed() {
    let (stage, held) = running();
    stage.checkpoint(&stage.first, &held, 1);
    stage.succeed(&stage.first, &held);
    let mut events = stage.events();
    events.retain(|event| event.action != Action::PersistCheckpoint);
    let report = audit(&events);
    let why: Vec<&Why> = report.failures.iter().map(|failure| &failure.why).collect();
    assert_eq!(why, [&Why::Order("a revision of the job has no event")]);
}

/// Events as many processes leave them of which one was killed: each recorded what it was answered, and the newest of
/// one actor's are gone.
fn one_killed(events: &[Event], actor: ActorId, unwritten: usize) -> Vec<(Event, Source)> {
    let mut left = unwritten;
    let mut kept = Vec::new();
    for event in events.iter().rev() {
        if event.actor == actor && left > 0 {
            left -= 1;
        } else {
            kept.push((event.clone(), Source::default()));
        }
    }
    kept.reverse();
    kept
}

#[test]
fn what_a_killed_process_of_many_had_not_written_is_put_where_it_explains_what_follows() {
    for (name, events) in with_one_loss() {
        let mut actors: Vec<ActorId> = events.iter().map(|event| event.actor).collect();
        actors.sort_unstable();
        actors.dedup();
        for actor in actors {
            for unwritten in 1..=4 {
                let kept = one_killed(&events, actor, unwritten);
                let report = audit_files(&kept, true);
                assert_eq!(report.failures, [], "{name}: {unwritten} events of {actor} unwritten");
            }
        }
    }
}

#[test]
fn where_nobody_was_killed_no_event_of_many_processes_may_be_missing() {
    let (stage, held) = running();
    stage.succeed(&stage.first, &held);
    let mut events: Vec<_> = stage.events().into_iter().map(|event| (event, Source::default())).collect();
    // Each process has a file of its own, so the order of the files is none.
    events.sort_by_key(|(event, _)| (event.actor, event.sequence));
    assert_eq!(audit_files(&events, false).failures, []);
    events.retain(|(event, _)| event.action != Action::Reserve);
    assert!(!audit_files(&events, false).failures.is_empty());
}
