//! Jobs that kill, and processes that will not die.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::time::Duration;

use chaos::{Dev, DevOptions, count, count_result, eventually, kill, of_folder, shell, with_text, within};
use durable::JobView;
use protocol::{FailureCause, JobSpec, Phase, Verdict};

const LONG: Duration = Duration::from_secs(50);
const SECOND: Duration = Duration::from_secs(1);

fn dev() -> Dev {
    Dev::start(env!("CARGO_BIN_EXE_remora"), DevOptions::default()).unwrap()
}

fn errors(view: &JobView) -> Vec<&str> {
    view.attempts.iter().filter_map(|attempt| attempt.error.as_deref()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_kills_its_worker_runs_max_attempts_times_and_its_neighbour_finishes() {
    let dev = dev();
    let trace = dev.place().join("trace");
    let text = format!("echo run >> {}; kill -9 \"$REMORA_WORKER_PID\"; sleep 30", trace.display());
    let killer = JobSpec { max_attempts: 3, ..shell(&text) };
    let jobs = dev.submit([killer, count(10, Duration::from_millis(100), None)]).await.unwrap();
    let view = dev.ended(jobs[0], LONG).await.unwrap();
    assert_eq!(view.summary.phase, Phase::Failed, "{view:?}");
    assert_eq!(fs::read_to_string(&trace).unwrap().lines().count(), 3);
    assert_eq!(view.attempts.len(), 3, "{view:?}");
    assert!(view.attempts.iter().all(|one| one.verdict == Some(Verdict::Failed(FailureCause::Lost))));
    assert!(errors(&view).iter().all(|error| error.contains("the worker w") && error.contains("lost")));
    let neighbour = dev.ended(jobs[1], LONG).await.unwrap();
    assert_eq!(dev.published(&neighbour, "lines").unwrap(), count_result(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_kills_its_worker_can_be_cancelled() {
    let dev = dev();
    let trace = dev.place().join("trace");
    let text = format!("echo run >> {}; kill -9 \"$REMORA_WORKER_PID\"; sleep 30", trace.display());
    let job = dev.submit([shell(&text)]).await.unwrap()[0];
    let runs = || fs::read_to_string(&trace).unwrap_or_default().lines().count();
    within("it ran once", LONG, || runs() >= 1).await.unwrap();
    dev.client().await.unwrap().cancel(job).await.unwrap();
    let runs_at_cancel = runs();
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!(view.summary.phase, Phase::Cancelled, "{view:?}");
    assert_eq!(runs(), runs_at_cancel, "{view:?}");
}

/// Children of all kinds; each says with `sleep` how it can be found.
const CHILDREN: &str = r#"
sleep 7001.TAG &
setsid sleep 7002.TAG &
(setsid sh -c 'sleep 7003.TAG & exit' &)
sh -c 'trap "" TERM HUP INT; while :; do sleep 7004.TAG; done' &
sh -c 'exec 3>&1; sleep 7005.TAG >&3' &
env -i setsid sh -c '(sleep 7006.TAG &) ; sleep 7007.TAG' &
touch "$READY"
wait
sleep 7008.TAG
"#;

#[tokio::test(flavor = "multi_thread")]
async fn no_descendant_outlives_a_killed_worker_by_more_than_a_second() {
    let dev = dev();
    let tag = std::process::id();
    let ready = dev.place().join("ready");
    let text = CHILDREN.replace("TAG", &tag.to_string()).replace("$READY", &ready.display().to_string());
    let job = dev.submit([JobSpec { max_attempts: 1, ..shell(&text) }]).await.unwrap()[0];
    let sleepers =
        || with_text("sleep 700").into_iter().filter(|one| one.command.ends_with(&tag.to_string()));
    let all = || sleepers().filter(|one| one.command.starts_with("sleep")).count() >= 7;
    within("all children run", LONG, all).await.unwrap();
    kill(dev.worker_of(job).await.unwrap().pid);
    let gone = within("they are gone", SECOND, || sleepers().count() == 0).await;
    assert!(gone.is_ok(), "{:?}", sleepers().collect::<Vec<_>>());
    assert!(of_folder(dev.data().root()).is_empty());
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!(view.summary.phase, Phase::Failed, "{view:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_kills_or_stops_its_warden_fails_by_name_and_leaves_nothing() {
    let dev = dev();
    let tag = std::process::id();
    for deed in ["kill -9 $PPID", "kill -STOP $PPID", "kill -STOP $PPID; exit 0"] {
        let text = format!("setsid sleep 7100.{tag} & sleep 0.2; {deed}; sleep 7101.{tag}");
        let spec = JobSpec { max_attempts: 1, ..shell(&text) };
        let job = dev.submit([spec]).await.unwrap()[0];
        let view = dev.ended(job, Duration::from_secs(15)).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Failed, "{deed}: {view:?}");
        assert!(errors(&view)[0].contains("warden"), "{deed}: {view:?}");
        assert_eq!(with_text(&format!(".{tag}")).len(), 0, "{deed}");
        assert!(of_folder(dev.data().root()).is_empty(), "{deed}");
    }
    // The worker is whole: its slot is free.
    let job = dev.submit([count(3, Duration::ZERO, None)]).await.unwrap()[0];
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!(dev.published(&view, "lines").unwrap(), count_result(3));
    eventually("its lease is back", LONG, || async {
        Ok(dev.workers().await?.iter().all(|worker| worker.jobs.is_empty()).then_some(()))
    })
    .await
    .unwrap();
}
