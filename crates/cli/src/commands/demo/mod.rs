//! `remora demo [FOLDER]`: real files, three worker processes, three bad things, and a comparison with a
//! plain serial run at the end.
//!
//! Promises: exit code 0 only if every job's published result is, byte for byte, what the serial run gives, and every
//! step that was recorded is one of the spec's.
//! Bounds its input and says so; paces its files so that there is something to see.

mod base;
mod compare;
mod files;
mod job;
#[cfg(feature = "fleet")]
mod rooms;
mod script;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::{Direct, DirectRooms};
use durable::JobView;
use model::audit::Report;
use protocol::{JobId, JobSpec};
use remora::{Client, DataFolder};
use serde::Serialize;

pub(crate) use job::DemoJob;

use super::dev::supervisor;
use super::place::Place;
use crate::access::Site;
use crate::args::DemoArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;
use base::Base;
use files::Parts;
use script::Stage;

const JOBS: usize = 24;
const WORKERS: u32 = 3;
/// More places than jobs, so that lost ones need not wait for others to end.
const SLOTS: u32 = 10;
const LEASE: Duration = Duration::from_secs(3);
/// How long one job is made to take, by a pause after each file.
const JOB_TAKES: Duration = Duration::from_secs(26);
/// A demo that takes longer than this has failed.
const LONGEST: Duration = Duration::from_secs(180);

/// What the demo came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Verdict {
    ok: bool,
    jobs: usize,
    published: usize,
    published_twice: usize,
    lost: usize,
    attempts: usize,
    steps_saved: u64,
    /// Recorded steps that were replayed on the spec.
    audited: u64,
    /// Jobs whose steps the spec does not allow.
    unexplained: usize,
    seconds: u64,
}

pub(crate) fn run(site: &Site, args: DemoArgs, printer: &Printer) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        tokio::select! {
            result = play(site, args, printer) => result,
            _ = tokio::signal::ctrl_c() => Err(Failure::new(code::LEFT, "left before the end")),
        }
    });
    runtime.shutdown_background();
    result
}

async fn play(site: &Site, args: DemoArgs, printer: &Printer) -> Result<u8, Failure> {
    let folder = std::path::absolute(args.folder.as_deref().unwrap_or(Path::new(".")))?;
    let place = Place::make("demo", None)?;
    let input = place.path.join("input");
    let parts = files::choose(&folder, JOBS, &input)?;
    let began = Instant::now();
    introduce(printer, &folder, &parts);
    let data = DataFolder::new(place.path.join("data"));
    let mut workers = supervisor(WORKERS, SLOTS)?;
    workers.words.extend(["--log".into(), "error".into()]);
    let base = Base::start(site, &data, workers).await?;
    let jobs = submit(&base.client, &input, &parts).await?;
    let stage = Stage::new(&base, &jobs, printer, parts.steps());
    let ended = tokio::time::timeout(LONGEST, stage.play()).await;
    let views = match ended {
        Ok(views) => views?,
        Err(_) => {
            place.keep();
            let stopped = base.shutdown().await;
            return Err(Failure::new(
                code::FAILED,
                format!("the jobs did not end within {} s", LONGEST.as_secs()),
            )
            .hint(format!("what was done lies in {}", stopped.place(&data))));
        }
    };
    printer.remark("");
    printer.remark("comparing every published result with a plain serial run …");
    let rooms = DirectRooms::of(base.client.durable(), base.client.coordination(), Arc::clone(&base.target));
    let copies = place.path.join("published");
    let published = base::published(&Direct::new(rooms), base.target.as_ref(), &views, &copies).await?;
    let differences = compare::compare(&input, &parts, &views, &published, &place.path.join("serial"));
    let took = began.elapsed();
    let stopped = base.shutdown().await;
    printer.remark("replaying every recorded step on the spec …");
    let (report, _) = super::audit::audit(&[data.root().to_owned()], None).map_err(|error| Failure {
        error,
        hint: None,
        code: code::FAILED,
    })?;
    let verdict = judge(&views, &differences, &report, took);
    let wrong = differences.into_iter().chain(report.failures.iter().map(ToString::to_string));
    conclude(printer, &verdict, &wrong.collect::<Vec<_>>())?;
    if verdict.ok {
        stopped.remove(&views).await?;
        Ok(code::OK)
    } else {
        place.keep();
        Err(Failure::new(code::FAILED, "not everything matched")
            .hint(format!("what was done lies in {}", stopped.place(&data))))
    }
}

fn introduce(printer: &Printer, folder: &Path, parts: &Parts) {
    printer.remark(&format!(
        "{} {} files of {} ({:.1} MB; at most {} files of at most {} KB each are taken),",
        printer.paint("remora demo:", "1"),
        parts.files,
        folder.display(),
        megabytes(parts.bytes),
        files::MOST_FILES,
        files::LARGEST / 1024,
    ));
    printer.remark(&format!(
        "{JOBS} jobs hash and compress them file after file, with a checkpoint after each, on {WORKERS} worker processes of {SLOTS} slots."
    ));
    printer.remark(&format!(
        "Each job is paced to about {} s; a lost worker is noticed after {} s.",
        JOB_TAKES.as_secs(),
        LEASE.as_secs()
    ));
    printer.remark("");
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000.0
}

async fn submit(client: &Client, folder: &Path, parts: &Parts) -> Result<Vec<JobId>, Failure> {
    let mut jobs = Vec::new();
    for part in &parts.jobs {
        let pause = JOB_TAKES / u32::try_from(part.len().max(1)).unwrap_or(u32::MAX);
        let args = job::DemoArgs {
            folder: folder.to_owned(),
            files: part.clone(),
            pause_ms: u64::try_from(pause.as_millis()).unwrap_or(0),
        };
        let spec = JobSpec {
            kind: <DemoJob as remora::Job>::KIND.to_owned(),
            args: serde_json::to_string(&args)?,
            ..JobSpec::default()
        };
        jobs.push(client.submit(spec).await?.job);
    }
    Ok(jobs)
}

fn judge(views: &[JobView], differences: &[String], report: &Report, took: Duration) -> Verdict {
    let published = |view: &&JobView| view.result.is_some();
    let successes = |view: &JobView| {
        let succeeded = Some(protocol::Verdict::Succeeded);
        view.attempts.iter().filter(|attempt| attempt.verdict == succeeded).count()
    };
    let jobs = views.len();
    let published_count = views.iter().filter(published).count();
    let published_twice = views.iter().filter(|view| successes(view) > 1).count();
    let lost = jobs - published_count;
    let resumed = views.iter().flat_map(|view| &view.attempts).map(|attempt| attempt.resumed_from);
    Verdict {
        ok: differences.is_empty() && lost == 0 && published_twice == 0 && report.failures.is_empty(),
        jobs,
        published: published_count,
        published_twice,
        lost,
        attempts: views.iter().map(|view| view.attempts.len()).sum(),
        steps_saved: resumed.sum(),
        audited: report.events,
        unexplained: report.failures.len(),
        seconds: took.as_secs(),
    }
}

fn conclude(printer: &Printer, verdict: &Verdict, wrong: &[String]) -> Result<(), Failure> {
    for one in wrong {
        printer.remark(&printer.paint(one, "31"));
    }
    if printer.is_json() {
        return printer.json(verdict);
    }
    let good = |value: usize| if value == 0 { "32" } else { "31;1" };
    let rows = [
        ("jobs", verdict.jobs.to_string(), "1"),
        (
            "results published",
            verdict.published.to_string(),
            if verdict.published == verdict.jobs { "32" } else { "31;1" },
        ),
        ("published twice", verdict.published_twice.to_string(), good(verdict.published_twice)),
        ("lost", verdict.lost.to_string(), good(verdict.lost)),
        ("attempts", verdict.attempts.to_string(), "1"),
        ("steps that resume saved", verdict.steps_saved.to_string(), "1"),
        ("recorded steps audited", verdict.audited.to_string(), "1"),
        ("against the spec", verdict.unexplained.to_string(), good(verdict.unexplained)),
    ];
    for (name, value, colour) in rows {
        printer.line(&format!("  {name:<26}{}", printer.paint(&format!("{value:>6}"), colour)));
    }
    if verdict.ok {
        printer.remark(&printer.paint(
            &format!(
                "Every result is, byte for byte, what the serial run gave, and every step one of the spec's. ({} s)",
                verdict.seconds
            ),
            "32;1",
        ));
        printer.remark("Execution may repeat; publication happens once. Next: remora run -- ./your-program");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::audit::{Audit, Census, Source};
    use protocol::{Action, ActorId, Detail, Event, Outcome, Room};

    fn unexplained() -> Report {
        let event = Event {
            room: Room::Durable,
            epoch: 0,
            order: 2,
            action: Action::ScheduleRetry,
            outcome: Outcome::Taken,
            job: Some(JobId(1)),
            token: None,
            attempt: None,
            actor: ActorId(1),
            sequence: 1,
            sent_after: 0,
            answered_before: None,
            detail: Detail::default(),
            judged: Vec::new(),
        };
        let mut audit = Audit::new(Census::default());
        audit.take(event, Source::default());
        audit.finish()
    }

    #[test]
    fn a_difference_or_a_step_that_the_spec_does_not_allow_is_not_ok() {
        let all_well = Report::default();
        let good = judge(&[], &[], &all_well, Duration::from_secs(3));
        assert!(good.ok && good.seconds == 3);
        assert!(!judge(&[], &["x".to_owned()], &all_well, Duration::ZERO).ok);
        let verdict = judge(&[], &[], &unexplained(), Duration::ZERO);
        assert!(!verdict.ok && verdict.unexplained == 1);
    }
}
