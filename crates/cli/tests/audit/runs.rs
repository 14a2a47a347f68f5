//! Real runs with real faults, each audited: workers killed and frozen, the owner killed and started again, coordination
//! lost, jobs cancelled.
//!
//! Three seeds; `REMORA_AUDIT_SEEDS` changes the number (50 for the full size), `REMORA_SEED` the first of them.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use chaos::{Dev, DevOptions, Seed, count, freeze, kill, shell, thaw};
use protocol::{JobId, JobSpec, RetryPolicy};
use serde_json::Value;

const LEASE: Duration = Duration::from_millis(1_000);
const LIMIT: Duration = Duration::from_secs(12);
const BEAT: Duration = Duration::from_millis(250);

fn seeds() -> u64 {
    std::env::var("REMORA_AUDIT_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(3)
}

/// Jobs of every kind of end.
fn specs() -> Vec<JobSpec> {
    let retry = RetryPolicy { base_ms: 100, cap_ms: 400 };
    let few = |text: &str, max_attempts| JobSpec { max_attempts, retry, ..shell(text) };
    let mut specs: Vec<JobSpec> = (0..8).map(|_| count(24, Duration::from_millis(40), None)).collect();
    specs.extend((0..4).map(|_| few("sleep 0.2; exit 3", 2)));
    specs.extend((0..3).map(|_| few("sleep 0.6; echo done > \"$REMORA_OUTPUT/done\"", 25)));
    specs.extend((0..2).map(|_| JobSpec { timeout_ms: Some(300), ..few("sleep 5", 2) }));
    specs.push(few("exec /no/such/program", 3));
    specs
}

/// What happens to a run.
struct Weather {
    dev: Dev,
    seed: Seed,
    jobs: Vec<JobId>,
    frozen: Vec<(u32, Instant)>,
}

impl Weather {
    /// One thing, at random.
    async fn strike(&mut self) {
        let now = Instant::now();
        self.frozen.retain(|(pid, until)| {
            if *until <= now {
                thaw(*pid);
            }
            *until > now
        });
        let mut pids = self.dev.worker_pids().await.unwrap_or_default();
        pids.retain(|pid| self.frozen.iter().all(|(frozen, _)| frozen != pid));
        let worker = self.seed.pick(&pids).copied();
        match (self.seed.below(32), worker) {
            (0..6, Some(pid)) => kill(pid),
            (6..12, Some(pid)) => {
                freeze(pid);
                self.frozen.push((pid, now + LEASE * 2));
            }
            (12..16, _) => drop(self.dev.lose_coordination().await),
            (16..20, _) => {
                let job = self.seed.pick(&self.jobs).copied().unwrap().to_string();
                self.dev.command(&["cancel", &job]).unwrap();
            }
            (20..22, _) => {
                self.dev.kill_owner().unwrap();
                self.dev.start_owner().unwrap();
                self.dev.client().await.unwrap();
            }
            _ => {}
        }
    }

    async fn have_all_ended(&self) -> bool {
        for job in &self.jobs {
            if !self.dev.job(*job).await.is_ok_and(|view| view.summary.phase.is_terminal()) {
                return false;
            }
        }
        true
    }
}

/// What is wrong with the run, if anything is.
async fn run(seed: Seed) -> Option<String> {
    let name = seed.to_string();
    let options = DevOptions { workers: 3, slots: 2, lease: LEASE, ..DevOptions::default() };
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), options).unwrap();
    let jobs = dev.submit(specs()).await.unwrap();
    let mut weather = Weather { dev, seed, jobs, frozen: Vec::new() };
    let began = Instant::now();
    while began.elapsed() < LIMIT && !weather.have_all_ended().await {
        weather.strike().await;
        tokio::time::sleep(BEAT).await;
    }
    weather.frozen.drain(..).for_each(|(pid, _)| thaw(pid));
    tokio::time::sleep(LEASE * 2).await;
    let said = weather.dev.command(&["audit", "--output", "json"]).unwrap();
    if said.code != 0 {
        let kept = std::env::temp_dir().join(format!("remora-audit-{}", name.replace('=', "-")));
        let _ = fs::remove_dir_all(&kept);
        copy(&weather.dev.data().events(), &kept);
        let table = weather.dev.command(&["audit"]).unwrap();
        return Some(format!("{name}: kept in {}\n{}{}", kept.display(), table.out, table.err));
    }
    let report: Value = serde_json::from_str(&said.out).unwrap();
    println!("{name}: {} {:.1} s", said.out.trim(), began.elapsed().as_secs_f64());
    assert!(report["jobs"].as_u64().unwrap() >= 18, "{report}");
    assert!(report["events"].as_u64().unwrap() > 100, "{report}");
    None
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn seeded_runs_with_faults_are_explained_by_the_spec() {
    let first = Seed::announce("audited runs").number();
    let mut wrong = Vec::new();
    for nth in 0..seeds() {
        wrong.extend(run(Seed::of(first.wrapping_add(nth))).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[should_panic(expected = "is not explained")]
fn a_run_that_the_spec_does_not_explain_fails_its_test_at_the_end() {
    let dev = Dev::start(env!("CARGO_BIN_EXE_remora"), DevOptions::default()).unwrap();
    let events = dev.data().events();
    fs::create_dir_all(&events).unwrap();
    let twice = r#"{"room":"durable","epoch":0,"order":2,"action":"schedule_retry","outcome":"taken","job":"job_00000000000000000000000001","actor":"act_00000000000000000000000001","sequence":1,"sent_after":0,"detail":{}}"#;
    fs::write(events.join("planted-000000.jsonl"), format!("{twice}\n")).unwrap();
}
