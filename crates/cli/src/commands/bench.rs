//! `remora bench`: what Remora itself costs, measured by running jobs that do nothing.
//!
//! Promises: an owner, worker processes and a disk as in real use, in a folder of its own that is removed at
//! the end. Says nothing about real jobs: those take the time that they take.

use std::time::{Duration, Instant};

use agents::CleanerOptions;
use durable::{Configure, DurableRoom, Submit};
use protocol::{JobSpec, Phase};
use remora::{Client, DataFolder, Job};
use runtime::Runtime;
use serde::Serialize;
use server::{Owner, OwnerOptions};

use super::builtin::Noop;
use super::dev::{explain, supervisor};
use super::place::Place;
use crate::args::BenchArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;

const SINGLES: usize = 200;
const BATCH: usize = 500;
const LONGEST: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(5);

/// What was measured.
#[derive(Debug, Serialize)]
struct Figures {
    jobs: u64,
    workers: u32,
    slots: u32,
    events: bool,
    /// One job after another, from the call to the commit, in milliseconds.
    submit_p50_ms: f64,
    submit_p99_ms: f64,
    /// One job after another, from the call to its end.
    run_p50_ms: f64,
    /// All jobs queued before the first may start.
    drain_seconds: f64,
    jobs_per_second: f64,
}

pub(crate) fn run(args: &BenchArgs, printer: &Printer) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(measure(args, printer));
    runtime.shutdown_background();
    result
}

async fn measure(args: &BenchArgs, printer: &Printer) -> Result<u8, Failure> {
    let place = Place::make("bench", args.at.clone())?;
    let folder = DataFolder::new(place.path.join("data"));
    let mut workers = supervisor(args.workers, args.slots)?;
    if args.no_events {
        workers.words.push("--no-events".into());
    }
    let owner = Owner::start(OwnerOptions {
        folder: folder.clone(),
        lease: None,
        workers,
        events: !args.no_events,
        scraped: false,
        cleaner: CleanerOptions::default(),
    })
    .await
    .map_err(explain)?;
    let client = Client::connect(folder.root(), "bench").await?;
    let (mut submits, mut runs) = singles(&client).await?;
    let drain = drain(&client, args.jobs).await?;
    owner.shutdown().await;
    let figures = Figures {
        jobs: args.jobs,
        workers: args.workers,
        slots: args.slots,
        events: !args.no_events,
        submit_p50_ms: percentile(&mut submits, 50),
        submit_p99_ms: percentile(&mut submits, 99),
        run_p50_ms: percentile(&mut runs, 50),
        drain_seconds: drain.as_secs_f64(),
        jobs_per_second: per_second(args.jobs, drain),
    };
    report(&figures, printer)?;
    Ok(code::OK)
}

fn noop() -> JobSpec {
    JobSpec { kind: Noop::KIND.to_owned(), ..JobSpec::default() }
}

/// Jobs one after another: how long a submission takes, and how long a job takes from end to end.
async fn singles(client: &Client) -> Result<(Vec<Duration>, Vec<Duration>), Failure> {
    let mut submits = Vec::new();
    let mut runs = Vec::new();
    for _ in 0..SINGLES {
        let began = Instant::now();
        let job = client.submit(noop()).await?.job;
        submits.push(began.elapsed());
        client.watch(job, |view, _| view.summary.phase.is_terminal().then_some(())).await?;
        runs.push(began.elapsed());
    }
    Ok((submits, runs))
}

/// Queues all jobs while nothing may start, then measures from the start of the first to the end of the last.
async fn drain(client: &Client, jobs: u64) -> Result<Duration, Failure> {
    let room = client.durable();
    let queue = noop().queue;
    client.configure(&Configure { pause: Some(queue.clone()), ..Configure::default() }).await?;
    let runtime = Runtime::system();
    let before = succeeded(room.as_ref()).await?;
    let mut left = usize::try_from(jobs)?;
    while left > 0 {
        let count = left.min(BATCH);
        let batch: Vec<Submit> =
            (0..count).map(|_| Submit { job: runtime.new_job_id(), spec: noop(), retry_of: None }).collect();
        let sent = client.send();
        sent.of(room.submit(&sent.origin, &batch)).await?;
        client.coordination().nudge(&batch.iter().map(|submit| submit.job).collect::<Vec<_>>()).await?;
        left -= count;
    }
    until(|| async { Ok(client.coordination().pool().await?.queued > 0) }).await?;
    let began = Instant::now();
    client.configure(&Configure { resume: Some(queue), ..Configure::default() }).await?;
    until(|| async { Ok(succeeded(room.as_ref()).await? - before >= jobs) }).await?;
    Ok(began.elapsed())
}

async fn succeeded(room: &dyn DurableRoom) -> Result<u64, Failure> {
    let counts = room.counts().await?;
    Ok(counts.iter().filter(|count| count.phase == Phase::Succeeded).map(|count| count.jobs).sum())
}

async fn until<F: Future<Output = Result<bool, Failure>>>(
    mut look: impl FnMut() -> F,
) -> Result<(), Failure> {
    let began = Instant::now();
    while !look().await? {
        if began.elapsed() > LONGEST {
            return Err(Failure::new(
                code::FAILED,
                format!("nothing happened within {} s", LONGEST.as_secs()),
            ));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

fn percentile(samples: &mut [Duration], percent: usize) -> f64 {
    samples.sort_unstable();
    let index = (samples.len() * percent / 100).min(samples.len().saturating_sub(1));
    samples.get(index).map_or(0.0, |sample| sample.as_secs_f64() * 1000.0)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn per_second(jobs: u64, took: Duration) -> f64 {
    jobs as f64 / took.as_secs_f64().max(f64::EPSILON)
}

fn report(figures: &Figures, printer: &Printer) -> Result<(), Failure> {
    if printer.is_json() {
        return printer.json(figures);
    }
    let rows = vec![
        vec!["submit, p50".to_owned(), format!("{:.2} ms", figures.submit_p50_ms)],
        vec!["submit, p99".to_owned(), format!("{:.2} ms", figures.submit_p99_ms)],
        vec!["submit to end, p50".to_owned(), format!("{:.2} ms", figures.run_p50_ms)],
        vec![format!("{} jobs drained in", figures.jobs), format!("{:.2} s", figures.drain_seconds)],
        vec!["jobs per second".to_owned(), format!("{:.0}", figures.jobs_per_second)],
    ];
    printer.table(&["what", "measured"], rows, &[1]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_samples() {
        let mut samples: Vec<_> = (1..=100).rev().map(Duration::from_millis).collect();
        assert!((percentile(&mut samples, 50) - 51.0).abs() < 0.001);
        assert!((percentile(&mut samples, 99) - 100.0).abs() < 0.001);
        assert!(percentile(&mut [], 50).abs() < 0.001);
    }
}
