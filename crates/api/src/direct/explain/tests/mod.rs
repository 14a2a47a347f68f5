//! Every reason, from real rooms whose clocks stand still.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod stage;

use coordination::{Coordination as _, RestoreLease};
use durable::{AuthorizeAttempt, Configure, Durable as _, DurableReads as _, ReapLostAttempt};
use protocol::{AttemptId, FailureCause, ReservationId};
use std::sync::Arc;

use crate::v1::{Inspection, Moment, ReasonCode, Submission};
use crate::{Api as _, Direct, DirectRooms};
use stage::{ANNA, BERT, Rooms, codes, next, says, taken};

#[tokio::test]
async fn a_job_without_a_worker_names_what_is_served() {
    let rooms = Rooms::new().await;
    rooms.place.advance(15_000);
    let job = rooms.submit().await;
    says(&rooms.why(job).await, &[ReasonCode::NoWorker], "no worker is registered");
    rooms.register(ANNA, "anna", |known| known.kinds = vec!["ocr".to_owned()]).await;
    let why = rooms.why(job).await;
    says(&why, &[ReasonCode::NoWorker], "No worker serves kind exec in queue default");
    assert!(why.summary.contains("1 worker is registered, serving ocr in all queues"), "{}", why.summary);
    rooms.register(ANNA, "anna", |known| known.queues = Some(vec!["night".to_owned()])).await;
    says(&rooms.why(job).await, &[ReasonCode::NoWorker], "serving exec in night");
    next(&rooms.why(job).await, "A worker that serves it is started");
}

#[tokio::test]
async fn a_job_that_is_not_due_says_until_when() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let now = rooms.place.durable.next_due().await.unwrap().now;
    let job = rooms
        .submit_as(Submission {
            kind: Some("exec".to_owned()),
            scheduled_at: Some(Moment(now.plus_ms(65_000))),
            ..Submission::default()
        })
        .await;
    let why = rooms.why(job).await;
    says(&why, &[ReasonCode::NotDue], "in 1 min 5 s");
    assert_eq!(why.because[0].until, Some(Moment(now.plus_ms(65_000))));
    assert_eq!(why.next[0].at, Some(Moment(now.plus_ms(65_000))));
    rooms.place.advance(65_000);
    rooms.register(ANNA, "anna", |_| {}).await;
    says(&rooms.why(job).await, &[ReasonCode::NotOffered], "due for 0 ms");
}

#[tokio::test]
async fn a_retry_that_waits_tells_of_the_failure() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let stage = rooms.run(ANNA).await;
    rooms.place.advance(1_500);
    rooms.fail(&stage, FailureCause::Failed, u64::MAX).await;
    let why = rooms.why(stage.job).await;
    let attempts = rooms.place.direct().view(stage.job).await.unwrap().summary.max_attempts;
    says(&why, &[ReasonCode::NotDue], &format!("Attempt 1 failed; attempt 2 of {attempts} is due at"));
    let story = &why.attempts[0];
    assert_eq!(
        story.text,
        "Worker anna (pid 7 on desk) ran it for 1.5 s from the start; it failed with exit code 3: no such day."
    );
    assert_eq!((story.verdict.as_str(), story.fenced_by), ("failed", None));
    rooms.place.advance(2_000);
    rooms.register(ANNA, "anna", |_| {}).await;
    let why = rooms.why(stage.job).await;
    assert!(codes(&why).contains(&ReasonCode::NotOffered), "{why:#?}");
}

#[tokio::test]
async fn a_paused_queue_and_a_full_pool_are_both_named() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |known| known.slots = 2).await;
    let running = rooms.run(ANNA).await;
    let job = rooms.submit().await;
    rooms.enqueue(job).await;
    rooms.configure(Configure { global_limit: Some(1), ..Configure::default() }).await;
    let why = rooms.why(job).await;
    says(&why, &[ReasonCode::GlobalLimit], "The pool's limit of 1 place is reached: 1 running.");
    let holder = &why.because[0].holders[0];
    assert_eq!(
        (holder.job, holder.attempt, holder.worker_name.as_deref()),
        (Some(running.job), Some(1), Some("anna"))
    );
    rooms.configure(Configure { pause: Some("default".to_owned()), ..Configure::default() }).await;
    says(
        &rooms.why(job).await,
        &[ReasonCode::QueuePaused, ReasonCode::GlobalLimit],
        "Queue default is paused.",
    );
    rooms
        .configure(Configure {
            global_limit: Some(2),
            resume: Some("default".to_owned()),
            ..Configure::default()
        })
        .await;
    says(&rooms.why(job).await, &[ReasonCode::Offered], "It is offered, first in its window");
}

#[tokio::test]
async fn a_lost_attempt_counts_against_the_limit_until_it_is_accounted_for() {
    let mut rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    rooms.run(ANNA).await;
    let job = rooms.submit().await;
    rooms.rebuild(true).await;
    rooms.configure(Configure { global_limit: Some(1), ..Configure::default() }).await;
    rooms.register(BERT, "bert", |_| {}).await;
    rooms.enqueue(job).await;
    let text = "0 running, 1 not accounted for after a loss of coordination";
    says(&rooms.why(job).await, &[ReasonCode::GlobalLimit], text);
}

#[tokio::test]
async fn workers_that_are_full_or_drain_are_named() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let running = rooms.run(ANNA).await;
    let job = rooms.submit().await;
    rooms.enqueue(job).await;
    let why = rooms.why(job).await;
    says(
        &why,
        &[ReasonCode::WorkersBusy],
        "All 1 place of 1 worker that serves its queue and kind are taken: anna.",
    );
    assert_eq!(why.because[0].holders[0].job, Some(running.job));
    rooms.register(BERT, "bert", |_| {}).await;
    says(&rooms.why(job).await, &[ReasonCode::Offered], "It is offered");
    let other = rooms.submit().await;
    rooms.take(job, BERT).await;
    rooms.enqueue(other).await;
    says(&rooms.why(other).await, &[ReasonCode::WorkersBusy], "anna, bert");
    for (worker, name) in [(ANNA, "anna"), (BERT, "bert")] {
        rooms.register(worker, name, |known| known.draining = true).await;
    }
    let why = rooms.why(other).await;
    says(
        &why,
        &[ReasonCode::WorkersDraining],
        "All workers that serve kind exec in queue default drain: anna, bert.",
    );
    assert_eq!(why.because[0].holders[1].worker_name.as_deref(), Some("bert"));
}

#[tokio::test]
async fn a_reservation_names_its_holder() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let job = rooms.submit().await;
    let reservation = rooms.reserve(job, ANNA).await;
    says(
        &rooms.why(job).await,
        &[ReasonCode::Reserved],
        "Worker anna (pid 7 on desk) holds a reservation for it",
    );
    let stage = rooms.claim(job, ANNA, reservation).await;
    says(
        &rooms.why(job).await,
        &[ReasonCode::Running],
        "Attempt 1 was claimed by worker anna (pid 7 on desk)",
    );
    rooms.activate(&stage, ANNA, reservation).await;
    rooms.place.advance(2_500);
    let why = rooms.why(job).await;
    says(&why, &[ReasonCode::Running], "for 2.5 s; its lease was renewed 2.5 s ago.");
    next(&why, "Its lease ends, unless its worker renews it before.");
    next(&why, "If it fails, the next attempt follows within 2.0 s");
}

#[tokio::test]
async fn the_place_in_line_is_counted() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let jobs = [rooms.submit().await, rooms.submit().await, rooms.submit().await];
    for job in jobs {
        rooms.enqueue(job).await;
    }
    says(&rooms.why(jobs[0]).await, &[ReasonCode::Offered], "first in its window");
    let text = "2 due jobs stand before it in queue default, kind exec, priority";
    says(&rooms.why(jobs[2]).await, &[ReasonCode::BehindOthers], text);
    let urgent = Submission { kind: Some("exec".to_owned()), priority: Some(1), ..Submission::default() };
    let urgent = rooms.submit_as(urgent).await;
    rooms.enqueue(urgent).await;
    says(&rooms.why(jobs[0]).await, &[ReasonCode::BehindOthers], "1 job is of a higher priority.");
    says(&rooms.why(urgent).await, &[ReasonCode::Offered], "first in its window");
}

#[tokio::test]
async fn a_job_that_nobody_offers_is_told_after_asking() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let job = rooms.submit().await;
    rooms.place.advance(4_000);
    says(&rooms.why(job).await, &[ReasonCode::NotOffered], "due for 4.0 s and is offered in a moment");
    rooms.place.advance(4_000);
    says(&rooms.why(job).await, &[ReasonCode::NoAgents], "none did so within 3 s of being asked");
    next(&rooms.why(job).await, "A server is started.");
    // Somebody who offers it when asked is a server.
    let mut wakes = rooms.place.coordination.wakes();
    let agent = async {
        while wakes.recv().await.unwrap() != coordination::Wake::Nudged(vec![job]) {}
        rooms.enqueue(job).await;
    };
    let (why, ()) = tokio::join!(rooms.why(job), agent);
    says(&why, &[ReasonCode::Offered], "It is offered");
}

#[tokio::test]
async fn rooms_that_nobody_holds_or_that_are_silent_are_told() {
    let rooms = Rooms::new().await;
    let job = rooms.submit().await;
    let place = &rooms.place;
    let durable = Arc::clone(&place.durable);
    let target = Arc::clone(&place.target) as Arc<dyn target::Target>;
    let coordination = Arc::clone(&place.coordination);
    let of = DirectRooms::of(durable, coordination, target);
    let alone = Direct::new(DirectRooms { coordination: None, ..of.clone() });
    says(
        &alone.why(job).await.unwrap(),
        &[ReasonCode::NoAgents],
        "No server runs: no process owns the data folder",
    );
    let silent =
        Direct::new(DirectRooms { coordination: Some(Arc::new(super::silent::Silent::default())), ..of });
    let why = silent.why(job).await.unwrap();
    says(&why, &[ReasonCode::CoordinationAway], "Coordination gives no answer: cannot read the pool");
    assert_eq!(why.away.len(), 1, "{why:#?}");
    rooms.register(ANNA, "anna", |_| {}).await;
    let stage = rooms.run_job(job, ANNA).await;
    let why = silent.why(stage.job).await.unwrap();
    says(&why, &[ReasonCode::Running, ReasonCode::CoordinationAway], "by the ledger");
    let side = silent.inspect(job).await.unwrap();
    assert!(side.coordination.is_none());
    let unknown: Vec<_> =
        side.checks.iter().filter(|check| check.holds.is_none()).map(|check| check.name.as_str()).collect();
    assert_eq!(unknown, ["PermitSafety", "ZombieIsolation"]);
}

#[tokio::test]
async fn a_rebuilding_pool_is_told_and_so_is_the_grace() {
    let mut rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let stage = rooms.run(ANNA).await;
    let job = rooms.submit().await;
    rooms.place.coordination.lose();
    says(
        &rooms.why(job).await,
        &[ReasonCode::Rebuilding],
        "the durable store is at epoch 1, coordination at 0",
    );
    rooms.rebuild(false).await;
    says(&rooms.why(job).await, &[ReasonCode::Rebuilding], "Coordination is being rebuilt in epoch 2");
    let why = rooms.why(stage.job).await;
    says(&why, &[ReasonCode::Running, ReasonCode::Rebuilding], "by the ledger");
    let mut rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let stage = rooms.run(ANNA).await;
    let job = rooms.submit().await;
    rooms.rebuild(true).await;
    rooms.place.advance(1_000);
    says(&rooms.why(job).await, &[ReasonCode::Rebuilding], "hears of its workers in a moment");
    let why = rooms.why(stage.job).await;
    says(&why, &[ReasonCode::Running, ReasonCode::Rebuilding], "by the ledger");
    assert!(why.because[1].text.contains("rebuilt 1.0 s ago, in epoch 2"), "{why:#?}");
    let now = rooms.place.durable.next_due().await.unwrap().now;
    assert_eq!(why.because[1].until, Some(Moment(now.plus_ms(14_000))));
    let restore = RestoreLease {
        job: stage.job,
        attempt: stage.attempt,
        token: stage.token,
        worker: ANNA,
        judged: vec![],
    };
    taken(rooms.place.coordination.restore_lease(&rooms.at(), &[restore]).await.unwrap().remove(0));
    says(&rooms.why(stage.job).await, &[ReasonCode::Running], "its lease was renewed 0 ms ago");
}

#[tokio::test]
async fn a_row_set_aside_says_why() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let job = rooms.submit().await;
    durable::sqlite::damage(&rooms.place.folder().join("remora.db"), job);
    let claim = AuthorizeAttempt {
        job,
        attempt: AttemptId(5),
        worker: ANNA,
        reservation: ReservationId(5),
        epoch: 1,
        checkpoint_revision: 0,
        judged: vec![],
    };
    rooms.place.durable.authorize_attempt(&rooms.place.origin(), &[claim]).await.unwrap();
    let why = rooms.why(job).await;
    says(
        &why,
        &[ReasonCode::SetAside],
        "Its row was set aside and is not offered until it is retried or cancelled: ",
    );
    next(&why, "Nothing, until it is retried or cancelled.");
    assert_eq!(failing(&rooms.inspect(job).await), ["TypeOK"]);
}

#[tokio::test]
async fn a_cancel_tells_whom_it_waits_for() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let stage = rooms.run(ANNA).await;
    rooms.place.direct().cancel(&[stage.job]).await.unwrap();
    rooms.place.advance(1_200);
    let why = rooms.why(stage.job).await;
    let text = "A cancel was asked for 1.2 s ago; worker anna (pid 7 on desk) is about to be told to stop attempt 1.";
    says(&why, &[ReasonCode::Stopping], text);
    let notice = coordination::PublishCancelNotice { job: stage.job, attempt: stage.attempt, judged: vec![] };
    taken(rooms.place.coordination.publish_cancel_notice(&rooms.at(), &[notice]).await.unwrap().remove(0));
    says(&rooms.why(stage.job).await, &[ReasonCode::Stopping], "has been told to stop attempt 1");
    rooms.place.advance(20_000);
    rooms.place.coordination.expire_lease(&rooms.at(), 10).await.unwrap();
    let why = rooms.why(stage.job).await;
    says(&why, &[ReasonCode::Stopping, ReasonCode::Lost], "has no live lease, so the canceller ends the job");
    let finalize = durable::FinalizeCancel { job: stage.job, attempt: stage.attempt, judged: vec![] };
    taken(rooms.place.durable.finalize_cancel(&rooms.place.origin(), &[finalize]).await.unwrap().remove(0));
    says(
        &rooms.why(stage.job).await,
        &[ReasonCode::Ended],
        "It was cancelled 0 ms ago; nothing of it is published.",
    );
}

#[tokio::test]
async fn a_lost_attempt_is_told_and_then_who_fenced_it() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |_| {}).await;
    let stage = rooms.run(ANNA).await;
    rooms.place.advance(14_999);
    says(&rooms.why(stage.job).await, &[ReasonCode::Running], "renewed 14.9 s ago");
    rooms.place.advance(1);
    says(&rooms.why(stage.job).await, &[ReasonCode::Lost], "Attempt 1 has no live lease");
    rooms.place.coordination.expire_lease(&rooms.at(), 10).await.unwrap();
    let why = rooms.why(stage.job).await;
    says(&why, &[ReasonCode::Lost], "worker anna (pid 7 on desk) is lost");
    next(&why, "The next attempt is due within 500 ms of that");
    let reap = ReapLostAttempt {
        job: stage.job,
        attempt: stage.attempt,
        token: stage.token,
        error: "the worker anna was lost: its lease ended".to_owned(),
        chance: 0,
        judged: vec![],
    };
    taken(rooms.place.durable.reap_lost_attempt(&rooms.place.origin(), &[reap]).await.unwrap().remove(0));
    let retry = durable::ScheduleRetry { job: stage.job };
    taken(rooms.place.durable.schedule_retry(&rooms.place.origin(), &[retry]).await.unwrap().remove(0));
    rooms.register(BERT, "bert", |_| {}).await;
    rooms.run_job(stage.job, BERT).await;
    let why = rooms.why(stage.job).await;
    says(&why, &[ReasonCode::Running], "Attempt 2 has run under worker bert");
    assert_eq!((why.attempts.len(), why.attempts[0].fenced_by), (1, Some(2)));
    let text = "its lease ended and its authority was revoked: the worker anna was lost: its lease ended. \
                Attempt 2 has authority since: whatever this one still sends is refused.";
    assert!(why.attempts[0].text.ends_with(text), "{}", why.attempts[0].text);
}

#[tokio::test]
async fn an_ended_job_says_how_and_its_rooms_agree() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |known| known.slots = 2).await;
    let stage = rooms.run(ANNA).await;
    rooms.place.publish(&stage, &[("one.txt", b"1")]).await;
    rooms.place.advance(3_000);
    let why = rooms.why(stage.job).await;
    says(&why, &[ReasonCode::Ended], "It succeeded 3.0 s ago: attempt 1 published its result.");
    let side = rooms.inspect(stage.job).await;
    assert_eq!(failing(&side), [""; 0], "{side:#?}");
    assert_eq!(side.checks.len(), 11);
    assert_eq!(side.coordination.as_ref().unwrap()["leases"][0]["attempt"], 1);
    assert_eq!(side.target.as_ref().unwrap()["result"]["as_in_the_manifest"], true);
    assert_eq!(side.durable["attempts"][0]["verdict"], "succeeded");
    let failed = rooms.run(ANNA).await;
    rooms.fail(&failed, FailureCause::Permanent, 0).await;
    let why = rooms.why(failed.job).await;
    says(&why, &[ReasonCode::Ended], "It failed 0 ms ago, at attempt 1 of 1: no such day");
    assert!(why.attempts[0].text.contains("it failed for good with exit code 3"), "{why:#?}");
}

fn failing(side: &Inspection) -> Vec<&str> {
    let failing = side.checks.iter().filter(|check| check.holds == Some(false));
    failing.map(|check| check.name.as_str()).collect()
}

#[tokio::test]
async fn a_damaged_room_breaks_the_invariants_that_speak_of_it() {
    let rooms = Rooms::new().await;
    rooms.register(ANNA, "anna", |known| known.slots = 2).await;
    let stage = rooms.run(ANNA).await;
    rooms.place.publish(&stage, &[("one.txt", b"1")]).await;
    let out = std::path::PathBuf::from(
        rooms.place.direct().result(stage.job).await.unwrap().path.expect("the target is a folder"),
    );
    std::fs::remove_file(out.join("one.txt")).unwrap();
    let side = rooms.inspect(stage.job).await;
    assert_eq!(failing(&side), ["CommittedResultConsistent", "AttemptIsolation"], "{:#?}", side.checks);
    let running = rooms.run(ANNA).await;
    let file = rooms.place.folder().join("remora.db");
    durable::sqlite::disown(&file, running.job);
    assert_eq!(failing(&rooms.inspect(running.job).await), ["StateConsistency"]);
    let queued = rooms.submit().await;
    assert_eq!(failing(&rooms.inspect(queued).await), [""; 0]);
    durable::sqlite::withdraw(&file, queued);
    assert_eq!(failing(&rooms.inspect(queued).await), ["StateConsistency", "QueueRecoverable"]);
    rooms.configure(Configure { global_limit: Some(1), ..Configure::default() }).await;
    assert_eq!(failing(&rooms.inspect(running.job).await), ["StateConsistency", "PermitSafety"]);
}

#[tokio::test]
async fn a_store_that_is_only_read_is_not_ready_to_claim() {
    let rooms = Rooms::new().await;
    let durable = Arc::clone(&rooms.place.durable);
    let target = Arc::clone(&rooms.place.target) as Arc<dyn target::Target>;
    let of = DirectRooms::of(durable, Arc::clone(&rooms.place.coordination) as Arc<_>, target);
    let readiness = Direct::new(DirectRooms { durable: None, ..of.clone() }).readiness().await;
    let bad: Vec<_> = readiness.checks.iter().filter(|check| !check.ok).map(|check| &*check.name).collect();
    assert_eq!((readiness.ready, bad), (false, vec!["claim"]));
    let silent =
        Direct::new(DirectRooms { coordination: Some(Arc::new(super::silent::Silent::default())), ..of });
    let readiness = silent.readiness().await;
    let bad: Vec<_> = readiness.checks.iter().filter(|check| !check.ok).map(|check| &*check.text).collect();
    assert_eq!(bad, ["cannot read the pool"]);
}
