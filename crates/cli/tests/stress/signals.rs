//! Signals at awkward moments: at a claim, twice, beside a cancel, beside a loss; and large trees.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::time::{Duration, Instant};

use chaos::{
    Dev, DevOptions, Leftovers, Scale, Seed, count, count_result, eventually, kill, of_folder, send, shell,
    within,
};
use protocol::{JobSpec, Phase};
use rustix::process::Signal;

const LONG: Duration = Duration::from_secs(60);

fn dev(options: DevOptions) -> Dev {
    Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_told_to_stop_around_a_claim_lose_no_job_and_no_place() {
    let mut seed = Seed::announce("signals around a claim");
    let scale = Scale::of(12, 200);
    let lease = Duration::from_millis(1_500);
    let words = ["--drain-notice", "200ms"].map(str::to_owned).to_vec();
    let dev = dev(DevOptions { workers: 3, lease, words, ..DevOptions::default() });
    let client = dev.client().await.unwrap();
    let mut jobs = Vec::new();
    for _ in 0..scale.jobs {
        let pids = dev.worker_pids().await.unwrap();
        jobs.push(client.submit(count(2, Duration::from_millis(10), None)).await.unwrap().job);
        tokio::time::sleep(Duration::from_micros(seed.below(12_000))).await;
        let signals = [Signal::TERM, Signal::INT, Signal::KILL];
        let signal = *seed.pick(&signals).unwrap();
        if let Some(pid) = seed.pick(&pids) {
            send(*pid, signal);
        }
        if seed.below(3) == 0 {
            dev.lose_coordination().await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(seed.below(300))).await;
    }
    for job in jobs {
        let view = dev.ended(job, LONG).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Succeeded, "{seed}: {view:?}");
        assert_eq!(dev.published(&view, "lines").unwrap(), count_result(2), "{seed}: {view:?}");
    }
    let left = eventually("nothing is left", lease * 12, || async {
        Ok(Leftovers::find(&dev).await?.is_empty().then_some(()))
    });
    assert!(left.await.is_ok(), "{seed}: {:#?}", Leftovers::find(&dev).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_sigterm_ends_a_worker_at_once_and_its_job_goes_on_elsewhere() {
    let dev = dev(DevOptions::default());
    let mark = dev.place().join("mark");
    let text = format!("[ -e {0} ] && exit 0; touch {0}; sleep 600", mark.display());
    let job = dev.submit([shell(&text)]).await.unwrap()[0];
    within("it runs", LONG, || mark.exists()).await.unwrap();
    let pid = dev.worker_of(job).await.unwrap().pid;
    send(pid, Signal::TERM);
    eventually("it drains", LONG, || async {
        let workers = dev.client().await?.workers().await?;
        Ok(workers.iter().any(|one| one.registration.pid == pid && one.registration.draining).then_some(()))
    })
    .await
    .unwrap();
    send(pid, Signal::TERM);
    within("it ends", Duration::from_secs(1), || !chaos::exists(pid)).await.unwrap();
    within("its program, too", Duration::from_secs(1), || of_folder(dev.data().root()).is_empty())
        .await
        .unwrap();
    assert_eq!(dev.ended(job, LONG).await.unwrap().summary.phase, Phase::Succeeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_wins_over_a_drain() {
    let dev = dev(DevOptions::default());
    for cancel_first in [true, false] {
        let job = dev.submit([shell("sleep 600")]).await.unwrap()[0];
        let pid = dev.worker_of(job).await.unwrap().pid;
        let client = dev.client().await.unwrap();
        if cancel_first {
            client.cancel(job).await.unwrap();
            send(pid, Signal::TERM);
        } else {
            send(pid, Signal::TERM);
            client.cancel(job).await.unwrap();
        }
        let view = dev.ended(job, Duration::from_secs(15)).await.unwrap();
        assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Cancelled, 1), "{view:?}");
        within("the worker ends", LONG, || !chaos::exists(pid)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_of_hundreds_and_one_that_ignores_sigterm_end_with_a_cancel() {
    let dev = dev(DevOptions::default());
    let many = "i=0; while [ $i -lt 300 ]; do i=$((i+1)); (setsid sleep 600 &); done; sleep 600";
    let deaf = "trap '' TERM INT HUP; (trap '' TERM; setsid sleep 600 &) ; while :; do sleep 600; done";
    for (text, least, limit) in [(many, 300, Duration::from_secs(5)), (deaf, 3, Duration::from_secs(13))] {
        let job = dev.submit([shell(text)]).await.unwrap()[0];
        within("all run", LONG, || of_folder(dev.data().root()).len() >= least).await.unwrap();
        let began = Instant::now();
        dev.client().await.unwrap().cancel(job).await.unwrap();
        let view = dev.ended(job, limit).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Cancelled, "{view:?}");
        // With a lease this short the canceller ends the job after two of them, while SIGKILL is due after 10 s.
        let gone =
            within("they are gone", Duration::from_secs(2), || of_folder(dev.data().root()).is_empty());
        assert!(gone.await.is_ok(), "after {:?}: {:?}", began.elapsed(), of_folder(dev.data().root()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_loop_dies_with_its_worker() {
    let dev = dev(DevOptions::default());
    // Each link starts the next and ends; nobody is a child of anybody for long.
    let text = "cat > \"$REMORA_STATE/link\" <<'END'\nsleep 0.02\nsetsid sh \"$REMORA_STATE/link\" &\nEND\n\
        sh \"$REMORA_STATE/link\"; sh \"$REMORA_STATE/link\"; sleep 600";
    let job = dev.submit([JobSpec { max_attempts: 1, ..shell(text) }]).await.unwrap()[0];
    within("the chain runs", LONG, || of_folder(dev.data().root()).len() >= 3).await.unwrap();
    kill(dev.worker_of(job).await.unwrap().pid);
    within("it is gone", Duration::from_secs(1), || of_folder(dev.data().root()).is_empty()).await.unwrap();
    assert_eq!(dev.ended(job, LONG).await.unwrap().summary.phase, Phase::Failed);
}
