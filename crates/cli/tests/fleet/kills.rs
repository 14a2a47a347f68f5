//! Workers of an installation that die, and coordination that is lost, with jobs running.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::time::{Duration, Instant};

use chaos::fleet::{Fleet, FleetOptions};
use chaos::{count, count_result, eventually, kill, within};
use protocol::{FailureCause, JobId, Phase, Verdict};

const LIMIT: Duration = Duration::from_secs(60);

async fn fleet(workers: u32, lease: Duration) -> Fleet {
    let options = FleetOptions { servers: 1, workers, slots: 2, lease };
    Fleet::start(env!("CARGO_BIN_EXE_remora"), options).await.unwrap()
}

/// The process of the worker that holds the job's lease.
async fn holder(fleet: &Fleet, job: JobId) -> u32 {
    eventually("a worker executes the job", LIMIT, || async {
        let workers = fleet.client().workers().await?;
        let held = workers.iter().find(|worker| worker.attempts.iter().any(|held| held.job == job));
        Ok(held.map(|worker| worker.registration.pid))
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_workers_job_runs_elsewhere_within_two_leases_and_a_second_from_its_checkpoint() {
    let lease = Duration::from_secs(5);
    let fleet = fleet(2, lease).await;
    let job = fleet.submit([count(60, Duration::from_millis(100), None)]).await.unwrap()[0];
    let pid = holder(&fleet, job).await;
    eventually("a checkpoint", LIMIT, || async {
        Ok((fleet.job(job).await?.checkpoint_revision > 0).then_some(()))
    })
    .await
    .unwrap();
    let killed = Instant::now();
    kill(pid);
    eventually("the second attempt", lease * 2 + Duration::from_secs(1), || async {
        Ok((fleet.job(job).await?.attempts.len() == 2).then_some(()))
    })
    .await
    .unwrap();
    println!("the next attempt began {:.1} s after the kill", killed.elapsed().as_secs_f64());
    fleet.all_ended(&[job], LIMIT).await.unwrap();
    let view = fleet.job(job).await.unwrap();
    assert_eq!(view.attempts[0].verdict, Some(Verdict::Failed(FailureCause::Lost)), "{view:?}");
    assert!(view.attempts[1].resumed_from > 0, "{view:?}");
    assert_eq!(fleet.published(&view, "lines").await.unwrap(), count_result(60));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flushed_coordination_store_costs_executing_jobs_no_attempt() {
    let mut fleet = fleet(2, Duration::from_secs(5)).await;
    let jobs = fleet.submit((0..4).map(|_| count(40, Duration::from_millis(100), None))).await.unwrap();
    for job in &jobs {
        holder(&fleet, *job).await;
    }
    assert_eq!(fleet.stores().redis.say("FLUSHALL").trim(), "+OK");
    fleet.all_ended(&jobs, LIMIT).await.unwrap();
    for job in jobs {
        let view = fleet.job(job).await.unwrap();
        assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_killed_in_the_middle_of_an_upload_leaves_none_unfinished_once_its_job_has_ended() {
    let mut fleet = fleet(2, Duration::from_secs(2)).await;
    let uploads = fleet.stores().s3.folder().join("data/uploads");
    let unfinished = || std::fs::read_dir(&uploads).unwrap().count();
    let text = "head -c 64000000 /dev/zero > \"$REMORA_OUTPUT/large\"; remora attempt checkpoint";
    let job = fleet.submit([chaos::shell(text)]).await.unwrap()[0];
    let pid = holder(&fleet, job).await;
    within("an upload is under way", LIMIT, || unfinished() > 0).await.unwrap();
    kill(pid);
    fleet.all_ended(&[job], LIMIT).await.unwrap();
    let view = fleet.job(job).await.unwrap();
    assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 2), "{view:?}");
    assert_eq!(fleet.published(&view, "large").await.unwrap().len(), 64_000_000);
    within("no upload is unfinished", LIMIT, || unfinished() == 0).await.unwrap();
    eventually("nothing else is left", LIMIT, || async {
        Ok(fleet.leftovers(std::slice::from_ref(&view)).await?.is_empty().then_some(()))
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn migrators_twice_at_once_and_killed_under_load_hold_no_job_up_and_leave_a_whole_schema() {
    let fleet = fleet(2, Duration::from_secs(5)).await;
    let jobs = fleet.submit((0..16).map(|_| count(8, Duration::from_millis(50), None))).await.unwrap();
    holder(&fleet, jobs[0]).await;
    let migrate = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_remora"));
        command.arg("migrate").args(words).envs(fleet.urls().variables()).stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    for round in 0..4_u64 {
        let mut killed = migrate(&["up"]);
        let pair = [migrate(&["up"]), migrate(&["up"])];
        tokio::time::sleep(Duration::from_millis(10 * round)).await;
        kill(killed.id());
        // It may have been faster than the kill.
        let _ = killed.wait().unwrap();
        for mut one in pair {
            assert!(one.wait().unwrap().success());
        }
    }
    assert!(migrate(&["status"]).wait().unwrap().success());
    fleet.all_ended(&jobs, LIMIT).await.unwrap();
    for job in jobs {
        let view = fleet.job(job).await.unwrap();
        assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
    }
}
