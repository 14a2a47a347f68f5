//! Losses that cost nothing, and the loss of the owner itself.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::time::Duration;

use chaos::{Dev, DevOptions, Seed, count, count_result, eventually, of_folder, within};
use protocol::Phase;

const LONG: Duration = Duration::from_secs(50);

fn dev(workers: u32) -> Dev {
    let options = DevOptions { workers, ..DevOptions::default() };
    Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn five_losses_of_coordination_cost_no_executing_job_an_attempt() {
    let seed = Seed::announce("losses");
    let dev = dev(4);
    let jobs = dev.submit((0..4).map(|_| count(80, Duration::from_millis(80), None))).await.unwrap();
    let client = dev.client().await.unwrap();
    let all_leased = || async {
        let pool = client.coordination().pool().await?;
        Ok((pool.open && pool.leases == jobs.len() && pool.unaccounted == 0).then_some(pool.mark.epoch))
    };
    let mut epochs = vec![eventually("all jobs execute", LONG, all_leased).await.unwrap()];
    for _ in 0..5 {
        dev.lose_coordination().await.unwrap();
        let before = *epochs.last().unwrap();
        let restored = eventually("all leases are restored in a new epoch", dev.lease(), || async {
            Ok(all_leased().await?.filter(|epoch| *epoch > before))
        });
        epochs.push(restored.await.unwrap());
    }
    for job in &jobs {
        let view = dev.ended(*job, LONG).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Succeeded, "{seed}: {view:?}");
        assert_eq!(view.attempts.len(), 1, "{seed}: {view:?}");
        assert_eq!(dev.published(&view, "lines").unwrap(), count_result(80));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_a_killed_owner_go_on_from_their_checkpoints() {
    let mut dev = dev(2);
    let trace = dev.place().join("trace");
    let jobs = dev.submit((0..2).map(|_| count(40, Duration::from_millis(50), Some(&trace)))).await.unwrap();
    for job in &jobs {
        eventually("ten checkpoints", LONG, || async {
            let done = dev.job(*job).await?.summary.progress.map_or(0, |progress| progress.done);
            Ok((done >= 10).then_some(()))
        })
        .await
        .unwrap();
    }
    dev.kill_owner().unwrap();
    within("no program outlives the owner by more than a second", Duration::from_secs(1), || {
        of_folder(dev.data().root()).is_empty()
    })
    .await
    .unwrap();
    dev.start_owner().unwrap();
    for job in &jobs {
        let view = dev.ended(*job, LONG).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Succeeded, "{view:?}");
        assert_eq!(view.attempts.len(), 2, "{view:?}");
        assert!(view.attempts[1].resumed_from >= 10, "{view:?}");
        assert_eq!(dev.published(&view, "lines").unwrap(), count_result(40));
    }
    let trace = fs::read_to_string(trace).unwrap();
    assert!(!trace.lines().any(|line| line.starts_with("2 1 ")), "an attempt began anew:\n{trace}");
}
