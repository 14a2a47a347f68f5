//! The owner itself dies, again and again.
//!
//! Small: 12 jobs and 4 deaths; `REMORA_FULL=1`: 60 jobs and 20 deaths.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chaos::{Dev, DevOptions, Leftovers, Scale, Seed, count, count_result, eventually};
use protocol::Phase;

const LONG: Duration = Duration::from_secs(60);
const REMORA: &str = env!("CARGO_BIN_EXE_remora");

#[tokio::test(flavor = "multi_thread")]
async fn jobs_get_through_many_deaths_of_the_owner() {
    let mut seed = Seed::announce("owner");
    let scale = Scale::of(12, 60);
    let lease = Duration::from_millis(1_500);
    let options = DevOptions { workers: 4, slots: 1, lease, ..DevOptions::default() };
    let mut dev = Dev::start(REMORA, options).unwrap();
    let jobs = dev.submit((0..scale.jobs).map(|_| count(20, Duration::from_millis(50), None))).await.unwrap();
    for _ in 0..scale.either(4, 20) {
        tokio::time::sleep(Duration::from_millis(200 + seed.below(2_500))).await;
        dev.kill_owner().unwrap();
        dev.start_owner().unwrap();
    }
    for job in jobs {
        let view = dev.ended(job, LONG).await.unwrap();
        assert_eq!(view.summary.phase, Phase::Succeeded, "{seed}: {view:?}");
        assert_eq!(dev.published(&view, "lines").unwrap(), count_result(20), "{seed}: {view:?}");
    }
    let left = eventually("nothing is left", lease * 12, || async {
        Ok(Leftovers::find(&dev).await?.is_empty().then_some(()))
    });
    assert!(left.await.is_ok(), "{seed}: {:#?}", Leftovers::find(&dev).await.unwrap());
}

struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_of_its_own_keeps_its_jobs_through_a_restart_of_the_owner() {
    let options = DevOptions { workers: 0, lease: Duration::from_secs(10), ..DevOptions::default() };
    let mut dev = Dev::start(REMORA, options).unwrap();
    dev.client().await.unwrap();
    let mut command = Command::new(REMORA);
    command.arg("--dir").arg(dev.data().root()).args(["worker", "--slots", "2"]);
    let worker = Worker(command.stdin(Stdio::null()).spawn().unwrap());
    let jobs = dev.submit((0..2).map(|_| count(60, Duration::from_millis(50), None))).await.unwrap();
    for job in &jobs {
        assert_eq!(dev.worker_of(*job).await.unwrap().pid, worker.0.id());
    }
    dev.kill_owner().unwrap();
    dev.start_owner().unwrap();
    for job in jobs {
        let view = dev.ended(job, LONG).await.unwrap();
        assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
        assert_eq!(dev.published(&view, "lines").unwrap(), count_result(60));
    }
}
