//! An installation in bad weather: workers, servers and all three stores killed, workers frozen, coordination flushed, links
//! closed, silent, slow, or losing replies.
//!
//! Small: 24 jobs COUNT(20, 50 ms) on 3 workers. `REMORA_FULL=1`: 500 jobs on 8 workers. Lease 3 s. `REMORA_JOBS` changes the number,
//! `REMORA_SEED` repeats a run.

use std::time::Duration;

use chaos::fleet::{Fleet, FleetOptions, Weather};
use chaos::{Scale, Seed, count, count_result, eventually};
use protocol::Phase;

const STEPS: u32 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_an_installation_in_bad_weather_publish_the_right_bytes_and_leave_nothing() {
    let mut seed = Seed::announce("fleet storm");
    let scale = Scale::of(24, 500);
    let lease = Duration::from_secs(3);
    let options = FleetOptions { servers: 2, workers: scale.either(3, 8), slots: 2, lease };
    let mut fleet = Fleet::start(env!("CARGO_BIN_EXE_remora"), options).await.unwrap();
    let spec = || count(STEPS, Duration::from_millis(50), None);
    let jobs = fleet.submit((0..scale.jobs).map(|_| spec())).await.unwrap();
    let weather =
        Weather { every: lease / 2, lasts: lease * 2, limit: Duration::from_secs(scale.either(240, 3_600)) };
    let blown = weather.blow(&mut fleet, &mut seed, &jobs).await.unwrap();
    let mut views = Vec::new();
    for job in &jobs {
        let view = fleet.job(*job).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Succeeded, "{seed}: {view:?}");
        assert_eq!(fleet.published(&view, "lines").await.unwrap(), count_result(STEPS), "{seed}: {view:?}");
        views.push(view);
    }
    let attempts: usize = views.iter().map(|view| view.attempts.len()).sum();
    println!("{seed}: {} jobs, {attempts} attempts, {blown}", jobs.len());
    let left = eventually("nothing is left", lease * 12, || async {
        // A store that was struck last may be on its way back.
        Ok(fleet.leftovers(&views).await.is_ok_and(|left| left.is_empty()).then_some(()))
    })
    .await;
    if left.is_err() {
        panic!("{seed}: left after twelve lease lengths: {:#?}", fleet.leftovers(&views).await.unwrap());
    }
}
