//! A worker that is frozen longer than its lease.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chaos::{Dev, DevOptions, count, count_result, eventually, freeze, of_folder, shell, thaw, tree, within};
use protocol::{FailureCause, JobSpec, Phase, Verdict};

const LONG: Duration = Duration::from_secs(50);

fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

/// `attempt step time` of a trace.
fn steps(trace: &str) -> Vec<(u32, u32, u128)> {
    let number = |line: &str, at: usize| line.split(' ').nth(at).unwrap().parse::<u128>().unwrap();
    trace
        .lines()
        .map(|line| {
            (
                u32::try_from(number(line, 0)).unwrap(),
                u32::try_from(number(line, 1)).unwrap(),
                number(line, 2),
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_of_a_frozen_worker_is_dead_within_a_lease_and_the_next_attempt_publishes() {
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), DevOptions::default()).unwrap();
    let trace = dev.place().join("trace");
    let job = dev.submit([count(20, Duration::from_millis(100), Some(&trace))]).await.unwrap()[0];
    eventually("five checkpoints", LONG, || async {
        let done = dev.job(job).await?.summary.progress.map_or(0, |progress| progress.done);
        Ok((done >= 5).then_some(()))
    })
    .await
    .unwrap();
    let worker = dev.worker_of(job).await.unwrap();
    freeze(worker.pid);
    let frozen_at = now_ms();
    let folder = dev.data().root().display().to_string();
    let first: Vec<u32> = of_folder(dev.data().root()).iter().map(|found| found.pid).collect();
    assert!(!first.is_empty(), "{folder}");
    within("the program is dead within a lease", dev.lease(), || {
        first.iter().all(|pid| !chaos::exists(*pid))
    })
    .await
    .unwrap();
    let ended = dev.ended(job, LONG).await.unwrap();
    tokio::time::sleep(
        dev.lease() * 2
            - Duration::from_millis(u64::try_from(now_ms() - frozen_at).unwrap()).min(dev.lease() * 2),
    )
    .await;
    thaw(worker.pid);
    assert_eq!(ended.summary.phase, Phase::Succeeded, "{ended:?}");
    assert_eq!(ended.attempts.len(), 2, "{ended:?}");
    assert_eq!(dev.published(&ended, "lines").unwrap(), count_result(20));
    let after = dev.submit((0..4).map(|_| count(3, Duration::ZERO, None))).await.unwrap();
    for job in after {
        assert_eq!(dev.ended(job, LONG).await.unwrap().attempts.len(), 1);
    }
    let late = frozen_at + dev.lease().as_millis();
    let steps = steps(&fs::read_to_string(&trace).unwrap());
    assert!(steps.iter().all(|(attempt, _, at)| *attempt != 1 || *at <= late), "{steps:?}");
    let second = steps.iter().find(|(attempt, ..)| *attempt == 2).unwrap();
    assert!(second.1 > 5, "{steps:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_never_asks_its_worker_stops_within_a_lease_of_the_freeze() {
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), DevOptions::default()).unwrap();
    let trace = dev.place().join("trace");
    let text = format!(
        "while :; do echo \"$REMORA_ATTEMPT 0 $(date +%s%3N)\" >> {}; sleep 0.02; done",
        trace.display()
    );
    let job = dev.submit([JobSpec { max_attempts: 1, ..shell(&text) }]).await.unwrap()[0];
    within("it runs", LONG, || trace.exists()).await.unwrap();
    let worker = dev.worker_of(job).await.unwrap();
    freeze(worker.pid);
    let frozen_at = now_ms();
    let view = dev.ended(job, LONG).await.unwrap();
    thaw(worker.pid);
    assert_eq!(view.summary.phase, Phase::Failed, "{view:?}");
    let last = steps(&fs::read_to_string(&trace).unwrap()).last().unwrap().2;
    assert!(last <= frozen_at + dev.lease().as_millis(), "{} ms", last.saturating_sub(frozen_at));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_thawed_between_its_deadline_and_its_leases_end_does_not_blame_the_program() {
    let options = DevOptions { lease: Duration::from_secs(5), ..DevOptions::default() };
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap();
    let mark = dev.place().join("mark");
    let text = format!("[ -e {0} ] && exit 0; touch {0}; sleep 600", mark.display());
    let job = dev.submit([shell(&text)]).await.unwrap()[0];
    within("it runs", LONG, || mark.exists()).await.unwrap();
    let worker = dev.worker_of(job).await.unwrap();
    freeze(worker.pid);
    within("its warden ends it", dev.lease(), || of_folder(dev.data().root()).is_empty()).await.unwrap();
    thaw(worker.pid);
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 2), "{view:?}");
    assert_eq!(view.attempts[0].verdict, Some(Verdict::Failed(FailureCause::Lost)), "{view:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_shorter_than_the_trust_window_costs_nothing_be_it_the_workers_or_the_owners() {
    let options = DevOptions { lease: Duration::from_secs(6), ..DevOptions::default() };
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap();
    let job = dev.submit([count(60, Duration::from_millis(80), None)]).await.unwrap()[0];
    let worker = dev.worker_of(job).await.unwrap().pid;
    for pid in [worker, dev.owner_pid().unwrap()] {
        freeze(pid);
        tokio::time::sleep(Duration::from_millis(2_000)).await;
        thaw(pid);
        dev.worker_of(job).await.unwrap();
    }
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
    assert_eq!(dev.published(&view, "lines").unwrap(), count_result(60));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_frozen_for_two_leases_finds_its_jobs_again() {
    let options = DevOptions { lease: Duration::from_millis(1_500), ..DevOptions::default() };
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap();
    let jobs = dev.submit((0..6).map(|_| count(20, Duration::from_millis(50), None))).await.unwrap();
    let owner = dev.owner_pid().unwrap();
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_millis(700)).await;
        freeze(owner);
        tokio::time::sleep(dev.lease() * 2).await;
        thaw(owner);
    }
    for job in jobs {
        let view = dev.ended(job, LONG).await.unwrap();
        assert_eq!(dev.published(&view, "lines").unwrap(), count_result(20), "{view:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_a_frozen_worker_can_be_cancelled_and_publishes_nothing_after_the_thaw() {
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), DevOptions::default()).unwrap();
    let mark = dev.place().join("mark");
    let text = format!("echo 1 > \"$REMORA_OUTPUT/a\"; touch {}; sleep 1", mark.display());
    let job = dev.submit([shell(&text)]).await.unwrap()[0];
    within("it runs", LONG, || mark.exists()).await.unwrap();
    let worker = dev.worker_of(job).await.unwrap();
    freeze(worker.pid);
    dev.client().await.unwrap().cancel(job).await.unwrap();
    let view = dev.ended(job, dev.lease() * 3).await.unwrap();
    thaw(worker.pid);
    assert_eq!(view.summary.phase, Phase::Cancelled, "{view:?}");
    let next = dev.submit((0..2).map(|_| count(3, Duration::ZERO, None))).await.unwrap();
    for job in next {
        dev.ended(job, LONG).await.unwrap();
    }
    let view = dev.job(job).await.unwrap();
    assert!(view.summary.phase == Phase::Cancelled && view.result.is_none(), "{view:?}");
}

/// A suspended machine: the worker, the warden and the program stand still together, so that nobody can stop the program
/// while its lease ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_suspended_for_three_leases_stops_its_attempt_within_a_lease_of_waking_and_publishes_nothing()
 {
    let options = DevOptions { lease: Duration::from_millis(1_500), ..DevOptions::default() };
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap();
    let trace = dev.place().join("trace");
    let job = dev.submit([count(30, Duration::from_millis(150), Some(&trace))]).await.unwrap()[0];
    eventually("five checkpoints", LONG, || async {
        let done = dev.job(job).await?.summary.progress.map_or(0, |progress| progress.done);
        Ok((done >= 5).then_some(()))
    })
    .await
    .unwrap();
    let worker = dev.worker_of(job).await.unwrap().pid;
    let machine = [vec![worker], tree(worker)].concat();
    assert!(machine.len() >= 3, "a worker, a warden, a program: {machine:?}");
    machine.iter().copied().for_each(freeze);
    tokio::time::sleep(dev.lease() * 3).await;
    let programs: Vec<u32> = of_folder(dev.data().root()).iter().map(|found| found.pid).collect();
    let first: Vec<u32> = programs.into_iter().filter(|pid| machine.contains(pid)).collect();
    assert!(!first.is_empty(), "the first attempt's program was there all the time");
    let thawed_at = now_ms();
    machine.iter().copied().for_each(thaw);
    within("the first attempt's program is dead", dev.lease(), || {
        first.iter().all(|pid| !chaos::exists(*pid))
    })
    .await
    .unwrap();
    let ended = dev.ended(job, LONG).await.unwrap();
    assert_eq!((ended.summary.phase, ended.attempts.len()), (Phase::Succeeded, 2), "{ended:?}");
    assert_eq!(ended.attempts[0].verdict, Some(Verdict::Failed(FailureCause::Lost)), "{ended:?}");
    assert_eq!(dev.published(&ended, "lines").unwrap(), count_result(30));
    let late = thawed_at + dev.lease().as_millis();
    let steps = steps(&fs::read_to_string(&trace).unwrap());
    assert!(steps.iter().all(|(attempt, _, at)| *attempt != 1 || *at <= late), "{steps:?}");
}
