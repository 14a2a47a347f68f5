//! Places: never more than the limit, and never one that stays taken. Large results: whole or not at all.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chaos::{Dev, DevOptions, Scale, Seed, kill, shell};
use protocol::{JobSpec, Phase};

const LONG: Duration = Duration::from_secs(100);
const REMORA: &str = env!("CARGO_BIN_EXE_remora");

/// The most that ran at once, from lines `+` at a start and `-` at an end.
fn most_at_once(trace: &Path) -> i32 {
    let (mut now, mut most) = (0, 0);
    for line in fs::read_to_string(trace).unwrap().lines() {
        now += if line == "+" { 1 } else { -1 };
        most = most.max(now);
    }
    most
}

#[tokio::test(flavor = "multi_thread")]
async fn one_place_is_held_by_one_job_though_eight_workers_want_it() {
    let scale = Scale::of(60, 200);
    let dev = Dev::start(REMORA, DevOptions { workers: 0, ..DevOptions::default() }).unwrap();
    dev.client().await.unwrap();
    assert_eq!(dev.command(&["limits", "set", "--global", "1"]).unwrap().code, 0);
    let trace = dev.place().join("trace");
    let text = format!("echo + >> {0}; sleep 0.01; echo - >> {0}", trace.display());
    let jobs = dev.submit((0..scale.jobs).map(|_| shell(&text))).await.unwrap();
    let mut dev = dev;
    dev.kill_owner().unwrap();
    dev.set_workers(8);
    dev.start_owner().unwrap();
    for job in jobs {
        assert_eq!(dev.ended(job, LONG).await.unwrap().summary.phase, Phase::Succeeded);
    }
    assert_eq!(most_at_once(&trace), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_submitted_as_the_one_place_becomes_free_starts_without_waiting_for_a_poll() {
    let scale = Scale::of(30, 1_000);
    let dev = Dev::start(REMORA, DevOptions { workers: 2, ..DevOptions::default() }).unwrap();
    let client = dev.client().await.unwrap();
    assert_eq!(dev.command(&["limits", "set", "--global", "1"]).unwrap().code, 0);
    let mut running = client.submit(shell("sleep 0.05")).await.unwrap().job;
    let mut longest = Duration::ZERO;
    for _ in 0..scale.jobs {
        dev.ended(running, LONG).await.unwrap();
        let began = Instant::now();
        running = client.submit(shell("sleep 0.05")).await.unwrap().job;
        let started = client.watch(running, |view, _| (view.summary.token.0 > 0).then_some(()));
        started.await.unwrap();
        longest = longest.max(began.elapsed());
    }
    println!("the longest wait was {longest:?}");
    assert!(longest < Duration::from_secs(2), "{longest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_that_was_acknowledged_is_where_the_next_attempt_begins() {
    let dev = Dev::start(REMORA, DevOptions::default()).unwrap();
    let text = "i=$(cat \"$REMORA_STATE/i\" 2>/dev/null || echo 0)
        [ $i = 40 ] && { echo went on at $i > \"$REMORA_OUTPUT/said\"; exit 0; }
        while [ $i -lt 40 ]; do
            i=$((i+1)); echo $i > \"$REMORA_STATE/i\"; remora attempt checkpoint --progress $i/40 || exit 9
        done; exit 5";
    let job = dev.submit([JobSpec { max_attempts: 2, ..shell(text) }]).await.unwrap()[0];
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!(view.summary.phase, Phase::Succeeded, "{view:?}");
    assert_eq!(dev.published(&view, "said").unwrap(), "went on at 40\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn large_results_are_published_whole_whenever_their_worker_is_killed() {
    let mut seed = Seed::announce("large results");
    let scale = Scale::of(6, 40);
    let lease = Duration::from_millis(1_500);
    let dev = Dev::start(REMORA, DevOptions { workers: 2, lease, ..DevOptions::default() }).unwrap();
    let text = "for n in 1 2 3 4 5; do head -c 4000000 /dev/zero | tr '\\0' $n > $REMORA_OUTPUT/$n; done";
    let mut lost = 0;
    for _ in 0..scale.jobs {
        let job = dev.submit([shell(text)]).await.unwrap()[0];
        let mut kills = 0;
        let began = Instant::now();
        let view = loop {
            let view = dev.job(job).await.unwrap();
            if let Some(folder) = dev.result_folder(&view) {
                for n in 1..=5 {
                    let whole = vec![b'0' + n; 4_000_000];
                    assert_eq!(fs::read(folder.join(n.to_string())).unwrap(), whole, "{seed}: {view:?}");
                }
                break view;
            }
            assert!(began.elapsed() < LONG && !view.summary.phase.is_terminal(), "{seed}: {view:?}");
            let workers = dev.workers().await.unwrap();
            let executing = workers.into_iter().find(|one| one.jobs.iter().any(|(held, _)| *held == job));
            if let Some(worker) = executing.filter(|_| kills < 2) {
                tokio::time::sleep(Duration::from_millis(seed.below(500))).await;
                kill(worker.pid);
                kills += 1;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        assert_eq!(view.summary.phase, Phase::Succeeded, "{seed}: {view:?}");
        lost += view.attempts.len() - 1;
    }
    println!("{seed}: {lost} attempts were lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_hang_and_come_back_again_and_again_queue_behind_those_that_were_due_before() {
    let scale = Scale::of(12, 100);
    let dev = Dev::start(REMORA, DevOptions { workers: 2, ..DevOptions::default() }).unwrap();
    let client = dev.client().await.unwrap();
    assert_eq!(dev.command(&["limits", "set", "--global", "2"]).unwrap().code, 0);
    let hanging = || JobSpec { timeout_ms: Some(700), max_attempts: 1_000, ..shell("sleep 600") };
    let hung = dev.submit([hanging(), hanging()]).await.unwrap();
    for job in &hung {
        dev.worker_of(*job).await.unwrap();
    }
    let others =
        dev.submit((0..scale.jobs).map(|_| chaos::count(3, Duration::from_millis(20), None))).await.unwrap();
    let began = Instant::now();
    for job in &others {
        let view = dev.ended(*job, LONG).await.unwrap();
        assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
    }
    println!("{} jobs beside two that hang: {:?}", others.len(), began.elapsed());
    let attempts = async |job| dev.job(job).await.unwrap().attempts.len();
    for job in hung {
        let used = attempts(job).await;
        // Each of theirs lasts 0.7 s at least, and the others had their turn between any two.
        assert!(used <= 2 + others.len(), "{used} attempts before {} others were through", others.len());
        client.cancel(job).await.unwrap();
        assert_eq!(dev.ended(job, LONG).await.unwrap().summary.phase, Phase::Cancelled);
    }
}
