//! Verbs around jobs: idempotency key, retry, pause, limits, due times; through the command line.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::time::{Duration, Instant};

use chaos::{Dev, DevOptions, Said, count, eventually, shell};
use protocol::{JobId, JobSpec, Phase};

const LONG: Duration = Duration::from_secs(50);

fn dev(workers: u32, slots: u32) -> Dev {
    Dev::start(env!("CARGO_BIN_EXE_remora"), DevOptions { workers, slots, ..DevOptions::default() }).unwrap()
}

async fn ready(dev: &Dev) {
    dev.client().await.unwrap();
}

fn id(said: &Said) -> JobId {
    said.out.trim().parse().unwrap_or_else(|_| panic!("{said:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_and_request_give_the_same_job_and_another_request_is_refused() {
    let dev = dev(1, 1);
    ready(&dev).await;
    let submit =
        |text: &str| dev.command(&["submit", "--idempotency-key", "k1", "--", "sh", "-c", text]).unwrap();
    let first = id(&submit("echo 1 > $REMORA_OUTPUT/a"));
    assert_eq!(id(&submit("echo 1 > $REMORA_OUTPUT/a")), first);
    let other = submit("echo 2 > $REMORA_OUTPUT/a");
    assert_ne!(other.code, 0, "{other:?}");
    assert!(other.err.contains("idempotency"), "{other:?}");
    dev.ended(first, LONG).await.unwrap();
    assert_eq!(id(&submit("echo 1 > $REMORA_OUTPUT/a")), first);
    assert_eq!(dev.job(first).await.unwrap().attempts.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_means_due_now_while_waiting_and_a_new_job_after_the_end() {
    let dev = dev(1, 1);
    ready(&dev).await;
    let mark = dev.place().join("mark");
    let text = format!("[ -e {0} ] && exit 0; touch {0}; exit 1", mark.display());
    let slow = ["--retry-base", "1h", "--retry-cap", "1h"];
    let words = [&["submit"], &slow[..], &["--", "sh", "-c", &text]].concat();
    let job = id(&dev.command(&words).unwrap());
    eventually("it waits", LONG, || async {
        Ok((dev.job(job).await?.summary.phase == Phase::RetryWait).then_some(()))
    })
    .await
    .unwrap();
    assert_eq!(dev.command(&["retry", &job.to_string()]).unwrap().code, 0);
    assert_eq!(dev.ended(job, Duration::from_secs(5)).await.unwrap().attempts.len(), 2);
    let refused = dev.command(&["retry", &job.to_string()]).unwrap();
    assert_ne!(refused.code, 0, "{refused:?}");

    let failed = dev.submit([JobSpec { max_attempts: 1, ..shell("exit 3") }]).await.unwrap()[0];
    dev.ended(failed, LONG).await.unwrap();
    let retried = dev.command(&["--output", "json", "retry", &failed.to_string()]).unwrap();
    assert_eq!(retried.code, 0, "{retried:?}");
    let page = dev.client().await.unwrap().durable().list(&durable::JobFilter::default()).await.unwrap();
    let new = page.jobs[0].job;
    assert_ne!(new, failed);
    let view = dev.ended(new, LONG).await.unwrap();
    assert_eq!((view.retry_of, view.attempts.len()), (Some(failed), 1), "{view:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_queue_starts_nothing_until_it_is_resumed_also_across_a_loss() {
    let dev = dev(2, 1);
    ready(&dev).await;
    assert_eq!(dev.command(&["queues", "pause", "default"]).unwrap().code, 0);
    let paused = dev.submit([count(2, Duration::ZERO, None)]).await.unwrap()[0];
    let other = JobSpec { queue: "other".to_owned(), ..count(2, Duration::ZERO, None) };
    let beside = dev.submit([other]).await.unwrap()[0];
    dev.ended(beside, LONG).await.unwrap();
    dev.lose_coordination().await.unwrap();
    let other = JobSpec { queue: "other".to_owned(), ..count(2, Duration::ZERO, None) };
    let beside = dev.submit([other]).await.unwrap()[0];
    dev.ended(beside, LONG).await.unwrap();
    assert_eq!(dev.job(paused).await.unwrap().summary.phase, Phase::Queued);
    assert_eq!(dev.command(&["queues", "resume", "default"]).unwrap().code, 0);
    let began = Instant::now();
    dev.ended(paused, LONG).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lowered_limit_drains_kills_nothing_and_holds() {
    let dev = dev(2, 3);
    let jobs = dev.submit((0..12).map(|_| count(8, Duration::from_millis(100), None))).await.unwrap();
    let client = dev.client().await.unwrap();
    let leases = async || client.coordination().pool().await.unwrap().leases;
    eventually("six execute", LONG, || async { Ok((leases().await == 6).then_some(())) }).await.unwrap();
    assert_eq!(dev.command(&["limits", "set", "--global", "2"]).unwrap().code, 0);
    eventually("only two execute", LONG, || async { Ok((leases().await <= 2).then_some(())) }).await.unwrap();
    let mut most = 0;
    for job in &jobs {
        while !dev.job(*job).await.unwrap().summary.phase.is_terminal() {
            most = most.max(leases().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(dev.job(*job).await.unwrap().attempts.len(), 1);
    }
    assert_eq!(most, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_due_in_two_seconds_starts_then_and_within_a_second() {
    let dev = dev(2, 4);
    ready(&dev).await;
    let mut jobs = Vec::new();
    for _ in 0..5 {
        jobs.push(id(&dev.command(&["submit", "--in", "2s", "--", "true"]).unwrap()));
    }
    dev.lose_coordination().await.unwrap();
    for job in jobs {
        let view = dev.ended(job, LONG).await.unwrap();
        let (started, due) = (view.attempts[0].started_at.0, view.summary.due_at.0);
        assert!((0..1_000).contains(&(started - due)), "{} ms after it was due: {view:?}", started - due);
        assert!(due - view.summary.created_at.0 > 1_000, "{view:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shortened_lease_costs_no_running_job_an_attempt() {
    let dev = Dev::start(
        env!("CARGO_BIN_EXE_remora"),
        DevOptions { lease: Duration::from_secs(15), ..DevOptions::default() },
    )
    .unwrap();
    let jobs = dev.submit((0..2).map(|_| count(60, Duration::from_millis(80), None))).await.unwrap();
    for job in &jobs {
        dev.worker_of(*job).await.unwrap();
    }
    assert_eq!(dev.command(&["limits", "set", "--lease", "1s"]).unwrap().code, 0);
    for job in jobs {
        let view = dev.ended(job, LONG).await.unwrap();
        assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
    }
}
