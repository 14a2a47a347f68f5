//! Stopping politely: a drained worker's jobs go on elsewhere, and `dev` ends with everything it started.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::time::{Duration, Instant};

use chaos::{Dev, DevOptions, count, count_result, eventually, of_folder, send, shell, with_text, within};
use protocol::{FailureCause, JobId, JobSpec, Phase, Verdict};
use rustix::process::Signal;

const LONG: Duration = Duration::from_secs(50);

fn dev(workers: u32) -> Dev {
    let words = ["--drain-notice", "2s"].map(str::to_owned).to_vec();
    let options = DevOptions { workers, lease: Duration::from_secs(15), words, ..DevOptions::default() };
    Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap()
}

/// COUNT that looks after each step whether it should stop, and ends then.
fn polite(trace: &std::path::Path) -> JobSpec {
    shell(&format!(
        "i=$(cat \"$REMORA_STATE/i\" 2>/dev/null || echo 0)
         while [ $i -lt 30 ]; do
           i=$((i+1)); echo $i >> \"$REMORA_OUTPUT/lines\"; echo $i > \"$REMORA_STATE/i\"
           echo \"$REMORA_ATTEMPT $i\" >> {trace}
           remora attempt checkpoint --progress $i/30 || exit
           remora attempt cancelled; case $? in 10) echo \"$REMORA_ATTEMPT drain\" >> {trace}; exit 9;; 0) exit 8;; esac
           sleep 0.1
         done",
        trace = trace.display()
    ))
}

async fn done(dev: &Dev, job: JobId) -> u64 {
    dev.job(job).await.unwrap().summary.progress.map_or(0, |progress| progress.done)
}

async fn until_step(dev: &Dev, job: JobId, step: u64) {
    eventually("so many checkpoints", LONG, || async { Ok((done(dev, job).await >= step).then_some(())) })
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drained_job_goes_on_elsewhere_within_two_seconds_from_its_checkpoint() {
    let dev = dev(2);
    let trace = dev.place().join("trace");
    let job = dev.submit([polite(&trace)]).await.unwrap()[0];
    until_step(&dev, job, 5).await;
    let worker = dev.worker_of(job).await.unwrap();
    send(worker.pid, Signal::TERM);
    let began = Instant::now();
    within("attempt 2 runs", Duration::from_secs(2), || {
        fs::read_to_string(&trace).unwrap_or_default().lines().any(|line| line.starts_with("2 "))
    })
    .await
    .unwrap();
    println!("went on after {:?}", began.elapsed());
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!(view.summary.phase, Phase::Succeeded, "{view:?}");
    assert_eq!(view.attempts.len(), 2, "{view:?}");
    assert_eq!(view.attempts[0].verdict, Some(Verdict::Failed(FailureCause::Drained)), "{view:?}");
    assert!(view.attempts[1].resumed_from >= 5, "{view:?}");
    assert_eq!(dev.published(&view, "lines").unwrap(), count_result(30));
    within("the drained worker ends", LONG, || !chaos::exists(worker.pid)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_ignores_a_drain_is_killed_after_notice_and_five_seconds() {
    let dev = dev(2);
    let tag = std::process::id();
    let text = format!("trap '' TERM; while :; do sleep 7200.{tag}; done");
    let job = dev.submit([JobSpec { max_attempts: 1, ..shell(&text) }]).await.unwrap()[0];
    let worker = dev.worker_of(job).await.unwrap();
    let sleepers = || with_text(&format!("7200.{tag}"));
    within("it runs", LONG, || !sleepers().is_empty()).await.unwrap();
    send(worker.pid, Signal::TERM);
    let began = Instant::now();
    let view = dev.ended(job, Duration::from_secs(15)).await.unwrap();
    let took = began.elapsed();
    assert!(took > Duration::from_secs(6) && took < Duration::from_secs(10), "{took:?}");
    assert_eq!(view.summary.phase, Phase::Failed, "{view:?}");
    assert!(sleepers().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn dev_ends_with_0_on_sigterm_and_leaves_no_process() {
    let mut dev = dev(2);
    let tag = std::process::id();
    let jobs = dev
        .submit([
            shell(&format!("setsid sleep 7300.{tag} & sleep 7301.{tag}")),
            count(200, Duration::from_millis(100), None),
        ])
        .await
        .unwrap();
    until_step(&dev, jobs[1], 3).await;
    let status = dev.stop_owner(Duration::from_secs(20)).await.unwrap();
    assert_eq!(status.code(), Some(0), "{}", dev.log());
    assert!(with_text(&format!(".{tag}")).is_empty());
    assert!(of_folder(dev.data().root()).is_empty());
    let root = dev.data().root().display().to_string();
    assert_eq!(with_text(&root), []);
    // What was not finished goes on at the next start, from its checkpoint.
    dev.start_owner().unwrap();
    let again = eventually("attempt 2 runs", LONG, || async {
        let view = dev.job(jobs[1]).await?;
        Ok((view.attempts.len() == 2).then_some(view))
    });
    let view = again.await.unwrap();
    assert!(view.attempts.last().unwrap().resumed_from >= 3, "{view:?}");
}
