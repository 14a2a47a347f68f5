//! Jobs through a storm: workers killed and frozen at random, coordination lost again and again.
//!
//! Small: 24 jobs COUNT(20, 50 ms) with a lease of 1.5 s. `REMORA_FULL=1`: 200 jobs, lease 3 s, a worker killed
//! or frozen for 6 s every 2 s, coordination lost every 15 s. `REMORA_JOBS` changes the number, `REMORA_SEED`
//! repeats a run.

use std::time::Duration;

use chaos::{Dev, DevOptions, Leftovers, Scale, Seed, Storm, count, count_result, eventually};
use protocol::Phase;

const STEPS: u32 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn jobs_in_a_storm_publish_the_right_bytes_and_leave_nothing() {
    let mut seed = Seed::announce("storm");
    let scale = Scale::of(24, 200);
    let lease = Duration::from_millis(scale.either(1_500, 3_000));
    let dev = Dev::start(
        env!("CARGO_BIN_EXE_remora"),
        DevOptions { workers: 4, slots: 1, lease, ..DevOptions::default() },
    )
    .unwrap();
    let spec = || count(STEPS, Duration::from_millis(50), None);
    let jobs = dev.submit((0..scale.jobs).map(|_| spec())).await.unwrap();
    let storm = Storm {
        every: lease * 2 / 3,
        frozen_for: lease * 2,
        lose_every: lease * 5,
        limit: Duration::from_secs(scale.either(120, 1_800)),
    };
    let blown = storm.blow(&dev, &mut seed, &jobs).await.unwrap();
    let client = dev.client().await.unwrap();
    let mut attempts = 0;
    for job in &jobs {
        let view = client.durable().job(*job).await.unwrap().unwrap();
        assert_eq!(view.summary.phase, Phase::Succeeded, "{seed}: {view:?}");
        assert_eq!(dev.published(&view, "lines").unwrap(), count_result(STEPS), "{seed}: {view:?}");
        attempts += view.attempts.len();
    }
    println!("{seed}: {} jobs, {attempts} attempts, {blown:?}", jobs.len());
    let left = eventually("nothing is left", lease * 12, || async {
        let left = Leftovers::find(&dev).await?;
        Ok(left.is_empty().then_some(left))
    })
    .await;
    if left.is_err() {
        panic!("{seed}: left after twelve lease lengths: {:#?}", Leftovers::find(&dev).await.unwrap());
    }
}
