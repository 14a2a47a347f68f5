//! Cancels at random moments: never both cancelled and published.
//!
//! Small: 40 jobs; `REMORA_FULL=1`: 200.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::time::Duration;

use chaos::{Dev, DevOptions, Leftovers, Scale, Seed, eventually, of_folder, shell};
use protocol::{Guard, JobId, Phase};
use remora::{Client, ClientError};

const LONG: Duration = Duration::from_secs(100);

/// What a cancel answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Accepted,
    TooLate,
}

async fn cancel_after(client: Client, job: JobId, wait: Duration) -> Answer {
    tokio::time::sleep(wait).await;
    match client.cancel(job).await {
        Ok(_) => Answer::Accepted,
        Err(ClientError::Refused(Guard::Cancellable)) => Answer::TooLate,
        Err(other) => panic!("{other}"),
    }
}

/// Waits until the job runs, then for so long, and cancels it: near its end.
async fn cancel_near_end(client: Client, job: JobId, wait: Duration) -> Answer {
    let running = client.watch(job, |view, _| (view.summary.token.0 > 0).then_some(()));
    running.await.unwrap();
    cancel_after(client, job, wait).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_publishes_nothing_and_a_published_one_says_that_it_is_too_late() {
    let mut seed = Seed::announce("cancel");
    let scale = Scale::of(40, 200);
    let options = DevOptions { workers: 2, slots: 8, ..DevOptions::default() };
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap();
    let client = dev.client().await.unwrap();
    let mut cancels = Vec::new();
    for number in 0..scale.jobs {
        let runs_ms = 100 + seed.below(400);
        let text = format!(
            "echo {number} > \"$REMORA_OUTPUT/n\"; sleep {}",
            f64::from(u32::try_from(runs_ms).unwrap()) / 1e3
        );
        let job = client.submit(shell(&text)).await.unwrap().job;
        let whole = Duration::from_millis(seed.below(runs_ms * u64::try_from(scale.jobs).unwrap() / 16));
        let near = Duration::from_millis(runs_ms.saturating_sub(100) + seed.below(160));
        let client = client.clone();
        cancels.push((
            job,
            if seed.below(2) == 0 {
                tokio::spawn(cancel_after(client, job, whole))
            } else {
                tokio::spawn(cancel_near_end(client, job, near))
            },
        ));
    }
    let mut accepted = 0;
    for (job, cancel) in cancels {
        let answer = cancel.await.unwrap();
        let view = dev.ended(job, LONG).await.unwrap();
        match answer {
            Answer::Accepted => {
                accepted += 1;
                assert_eq!(view.summary.phase, Phase::Cancelled, "{seed}: {view:?}");
                assert!(view.result.is_none(), "{seed}: {view:?}");
            }
            Answer::TooLate => {
                assert_eq!(view.summary.phase, Phase::Succeeded, "{seed}: {view:?}");
                assert!(dev.published(&view, "n").is_ok(), "{seed}: {view:?}");
            }
        }
    }
    println!("{seed}: {} jobs, {accepted} cancelled, {} too late", scale.jobs, scale.jobs - accepted);
    let left = eventually("nothing of the cancelled is left", dev.lease() * 12, || async {
        Ok(Leftovers::find(&dev).await?.is_empty().then_some(()))
    });
    assert!(left.await.is_ok(), "{seed}: {:#?}", Leftovers::find(&dev).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_program_is_alive_two_leases_after_a_cancel_around_its_start() {
    let mut seed = Seed::announce("cancel around the start");
    let scale = Scale::of(30, 500);
    let options = DevOptions { workers: 2, slots: 4, ..DevOptions::default() };
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap();
    let client = dev.client().await.unwrap();
    let mut jobs = Vec::new();
    for _ in 0..scale.jobs {
        let job = client.submit(shell("sleep 600")).await.unwrap().job;
        let answer = cancel_after(client.clone(), job, Duration::from_millis(seed.below(51))).await;
        assert_eq!(answer, Answer::Accepted, "{seed}");
        jobs.push(job);
    }
    let gone = eventually("no program is alive", dev.lease() * 2, || async {
        Ok(of_folder(dev.data().root()).is_empty().then_some(()))
    });
    assert!(gone.await.is_ok(), "{seed}: {:?}", of_folder(dev.data().root()));
    for job in jobs {
        let view = dev.ended(job, LONG).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Cancelled, "{seed}: {view:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_in_the_moment_of_a_loss_is_obeyed() {
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), DevOptions::default()).unwrap();
    let job = dev.submit([shell("sleep 600")]).await.unwrap()[0];
    dev.worker_of(job).await.unwrap();
    dev.lose_coordination().await.unwrap();
    dev.client().await.unwrap().cancel(job).await.unwrap();
    dev.lose_coordination().await.unwrap();
    let view = dev.ended(job, dev.lease() * 3).await.unwrap();
    assert_eq!(view.summary.phase, Phase::Cancelled, "{view:?}");
    let gone = eventually("the program is gone", dev.lease(), || async {
        Ok(of_folder(dev.data().root()).is_empty().then_some(()))
    });
    gone.await.unwrap();
}
