//! Workers of several versions: what a newer one has stored is not dropped by an older one (trial D5).

use std::time::Duration;

use chaos::{Dev, DevOptions, count, count_result, eventually, kill, within};
use durable::sqlite::exchange_manifest;
use protocol::Phase;

const LONG: Duration = Duration::from_secs(50);
const STEPS: u32 = 25;
/// How a newer worker would begin what it stores.
const NEWER: &[u8] = b"{\"form\":2,";

#[tokio::test(flavor = "multi_thread")]
async fn d5_a_checkpoint_of_a_newer_version_waits_for_it_costs_no_attempt_and_is_gone_on_from() {
    let dev = Dev::start(
        env!("CARGO_BIN_EXE_remora"),
        DevOptions { lease: Duration::from_millis(1_500), workers: 1, ..DevOptions::default() },
    )
    .unwrap();
    let job = dev.submit([count(STEPS, Duration::from_millis(100), None)]).await.unwrap()[0];
    eventually("five checkpoints", LONG, || async {
        let done = dev.job(job).await?.summary.progress.map_or(0, |progress| progress.done);
        Ok((done >= 5).then_some(()))
    })
    .await
    .unwrap();
    kill(dev.worker_of(job).await.unwrap().pid);
    let store = dev.data().database();
    let own = exchange_manifest(&store, job, None);
    let begin = own.iter().position(|byte| *byte == b'{').unwrap();
    let newer = [&own[..begin], NEWER, &own[begin + 1..]].concat();
    assert_eq!(exchange_manifest(&store, job, Some(&newer)), own);
    let refused = "the manifest is of form 2; this program reads forms up to 1";
    within("several claims were given up", LONG, || dev.log().matches(refused).count() >= 3).await.unwrap();
    let view = dev.job(job).await.unwrap();
    assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Queued, 1), "{view:?}");
    let neighbour = dev.submit([count(2, Duration::ZERO, None)]).await.unwrap()[0];
    assert_eq!(dev.ended(neighbour, LONG).await.unwrap().summary.phase, Phase::Succeeded);
    // The newer version is there again.
    assert_eq!(exchange_manifest(&store, job, Some(&own)), newer, "it was not touched");
    let view = dev.ended(job, LONG).await.unwrap();
    assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 2), "{view:?}");
    assert!(view.attempts[1].resumed_from >= 5, "{view:?}");
    assert_eq!(dev.published(&view, "lines").unwrap(), count_result(STEPS));
}
