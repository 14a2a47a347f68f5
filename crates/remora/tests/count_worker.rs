//! The example `count_worker` under a real owner: killed in the middle, it goes on from its checkpoint.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use durable::DurableReads;
use protocol::{JobId, JobSpec, Phase};
use remora::{Client, DataFolder};
use server::{Owner, OwnerOptions, SupervisorOptions};

const LONG: Duration = Duration::from_secs(50);

/// Cargo builds the examples of a package together with its tests, beside them.
fn example() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().join("examples/count_worker")
}

struct Killed(Child);

impl Killed {
    fn start(folder: &Path, slots: &str) -> Self {
        let mut command = Command::new(example());
        Self(command.arg(folder).arg(slots).stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn owner(folder: &DataFolder) -> Owner {
    let workers = SupervisorOptions {
        rooms: None,
        program: PathBuf::from("/bin/false"),
        workers: 0,
        slots: 1,
        words: Vec::new(),
        drain_limit: Duration::from_secs(1),
    };
    let options = OwnerOptions {
        folder: folder.clone(),
        lease: Some(Duration::from_secs(1)),
        workers,
        events: false,
        scraped: false,
        cleaner: agents::CleanerOptions::default(),
    };
    Owner::start(options).await.unwrap()
}

async fn until(client: &Client, job: JobId, done: impl Fn(&durable::JobView) -> bool) -> durable::JobView {
    let began = Instant::now();
    loop {
        let view = client.durable().job(job).await.unwrap().unwrap();
        if done(&view) {
            return view;
        }
        assert!(began.elapsed() < LONG, "{view:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_handler_goes_on_from_its_checkpoint_and_publishes_the_right_lines() {
    let place = tempfile::tempdir().unwrap();
    let folder = DataFolder::new(place.path().join("data"));
    let owner = owner(&folder).await;
    let client = Client::connect(folder.root(), "test").await.unwrap();
    let args = r#"{"steps": 20, "pause_ms": 50}"#.to_owned();
    let spec = JobSpec { kind: "count".to_owned(), args, ..JobSpec::default() };
    let job = client.submit(spec).await.unwrap().job;
    let first = Killed::start(folder.root(), "1");
    until(&client, job, |view| view.summary.progress.as_ref().is_some_and(|progress| progress.done >= 5))
        .await;
    drop(first);
    let second = Killed::start(folder.root(), "1");
    let view = until(&client, job, |view| view.summary.phase.is_terminal()).await;
    assert_eq!(view.summary.phase, Phase::Succeeded, "{view:?}");
    assert_eq!(view.attempts.len(), 2, "{view:?}");
    assert!(view.attempts[1].resumed_from >= 5, "{view:?}");
    let result = view.result.unwrap();
    let out = folder.target().join(format!("{job}/{}-{}/out/lines", result.token, result.attempt));
    let right: String = (1..=20).map(|step| format!("{step}\n")).collect();
    assert_eq!(fs::read_to_string(out).unwrap(), right);
    assert!(owner.durable().pool().await.is_ok());
    drop(second);
    owner.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn handlers_that_give_their_threads_to_nobody_lose_no_lease_and_starve_no_neighbour() {
    let place = tempfile::tempdir().unwrap();
    let folder = DataFolder::new(place.path().join("data"));
    let owner = owner(&folder).await;
    let client = Client::connect(folder.root(), "test").await.unwrap();
    let count =
        |args: &str| JobSpec { kind: "count".to_owned(), args: args.to_owned(), ..JobSpec::default() };
    let busy_args = r#"{"steps": 1, "pause_ms": 0, "busy_ms": 5000}"#;
    let mut busy = Vec::new();
    for _ in 0..4 {
        busy.push(client.submit(count(busy_args)).await.unwrap().job);
    }
    let worker = Killed::start(folder.root(), "6");
    for job in &busy {
        until(&client, *job, |view| view.summary.token.0 == 1).await;
    }
    let neighbour = client.submit(count(r#"{"steps": 5, "pause_ms": 10}"#)).await.unwrap().job;
    let view = until(&client, neighbour, |view| view.summary.phase.is_terminal()).await;
    assert_eq!(view.summary.phase, Phase::Succeeded, "{view:?}");
    let first = client.durable().job(busy[0]).await.unwrap().unwrap();
    assert_eq!(first.summary.phase, Phase::Running, "the neighbour waited for the busy ones");
    for job in busy {
        let view = until(&client, job, |view| view.summary.phase.is_terminal()).await;
        assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
    }
    drop(worker);
    owner.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn j4_progress_told_a_hundred_thousand_times_is_written_a_few_times_and_its_last_word_is_shown() {
    let place = tempfile::tempdir().unwrap();
    let folder = DataFolder::new(place.path().join("data"));
    let owner = owner(&folder).await;
    let client = Client::connect(folder.root(), "test").await.unwrap();
    let args = r#"{"steps": 1, "pause_ms": 3000, "reports": 100000}"#.to_owned();
    let spec = JobSpec { kind: "count".to_owned(), args, ..JobSpec::default() };
    let written = async || client.coordination().pool().await.unwrap().mark.order;
    let (began, before) = (Instant::now(), written().await);
    let job = client.submit(spec).await.unwrap().job;
    let worker = Killed::start(folder.root(), "1");
    loop {
        let told = client.coordination().progress(&[job]).await.unwrap().remove(0);
        if let Some(told) = told
            && told.progress.done == 100_000
        {
            assert_eq!(told.progress.message.map(|text| text.len()), Some(1_024));
            break;
        }
        assert!(began.elapsed() < LONG, "its last word is not shown");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let view = until(&client, job, |view| view.summary.phase.is_terminal()).await;
    assert_eq!((view.summary.phase, view.attempts.len()), (Phase::Succeeded, 1), "{view:?}");
    // All that coordination did, renewals and all: some steps a second.
    let allowed = 100 + 20 * began.elapsed().as_secs();
    assert!(written().await - before < allowed, "{} of {allowed}", written().await - before);
    drop(worker);
    owner.shutdown().await;
}
