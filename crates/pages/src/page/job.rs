//! One job: why it stands where it stands, its attempts, its log, its result.

use std::sync::Arc;

use api::v1::{Because, EntryKind, Expected, JobDetail, Moment, ResultEntry, Why};
use api::{Answer, Api, Problem};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use protocol::{JobId, Phase};
use web::Caller;

use super::id;
use crate::Desk;
use crate::answer::{Frame, Reply, go, page};
use crate::form::Fields;
use crate::view::job::{Bar, Entry, Row, entry, progress, row};
use crate::view::log::{Tail, tail, unread};
use crate::view::timeline::{LANES, Timeline, timeline};
use crate::view::words::{When, count, in_url, lasting, many, now, size, when};

/// Names of a result on one page.
const NAMES: usize = 100;
/// The header of the script that refreshes a page.
const REFRESH: &str = "remora-refresh";

struct HolderLine {
    job: Option<String>,
    attempt: u32,
    worker: String,
}

struct Reason {
    text: String,
    until: Option<When>,
    holders: Vec<HolderLine>,
}

struct Step {
    text: String,
    at: Option<When>,
}

struct WhyBox {
    summary: String,
    because: Vec<Reason>,
    next: Vec<Step>,
    away: Vec<String>,
}

struct CheckpointBox {
    sealed: String,
    attempt: u32,
    revision: u64,
    at: When,
    progress: Bar,
}

struct FileLine {
    path: String,
    url: String,
    download: String,
    kind: &'static str,
    to: String,
    size: String,
    digest: String,
    is_file: bool,
}

struct ResultBox {
    summary: String,
    attempt: u32,
    files: Vec<FileLine>,
    next: Option<String>,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "job.html")]
struct JobPage {
    frame: Frame,
    did: Option<&'static str>,
    row: Row,
    detail: JobDetail,
    retry_of: Option<String>,
    due: When,
    may_cancel: bool,
    may_retry: bool,
    why: Result<WhyBox, String>,
    timeline: Timeline,
    entries: Vec<Entry>,
    hidden: usize,
    checkpoint: Option<CheckpointBox>,
    timeout: String,
    retries: String,
    env: String,
    log: Tail,
    result: Option<ResultBox>,
}

fn reason(because: &Because, now: Moment) -> Reason {
    let holders = because.holders.iter().map(|holder| HolderLine {
        job: holder.job.map(|job| job.to_string()),
        attempt: holder.attempt.unwrap_or(0),
        worker: holder
            .worker_name
            .clone()
            .or_else(|| holder.worker.map(|worker| worker.to_string()))
            .unwrap_or_default(),
    });
    Reason {
        text: because.text.clone(),
        until: because.until.map(|at| when(at, now)),
        holders: holders.collect(),
    }
}

fn why_box(why: &Answer<Why>, now: Moment) -> Result<WhyBox, String> {
    let why = why.as_ref().map_err(|problem| problem.detail.to_string())?;
    let step = |next: &Expected| Step { text: next.text.clone(), at: next.at.map(|at| when(at, now)) };
    // What the summary says already is not said again.
    let news = |because: &&Because| because.text != why.summary || !because.holders.is_empty();
    Ok(WhyBox {
        summary: why.summary.clone(),
        because: why.because.iter().filter(news).map(|because| reason(because, now)).collect(),
        next: why.next.iter().map(step).collect(),
        away: why.away.clone(),
    })
}

fn line(job: JobId, entry: ResultEntry) -> FileLine {
    let (kind, is_file) = match entry.kind {
        EntryKind::File if entry.executable => ("program", true),
        EntryKind::File => ("file", true),
        EntryKind::Folder => ("folder", false),
        EntryKind::Link => ("link", false),
    };
    FileLine {
        url: format!("/jobs/{job}/files/{}", in_url(&entry.path)),
        download: format!("/v1/jobs/{job}/result/files/{}", in_url(&entry.path)),
        path: entry.path,
        kind,
        to: entry.to.unwrap_or_default(),
        size: entry.bytes.map(size).unwrap_or_default(),
        digest: entry.blake3.unwrap_or_default(),
        is_file,
    }
}

/// The result; its names only where there is a port to read them from.
async fn result_box(api: Option<&dyn Api>, detail: &JobDetail, after: Option<&str>) -> Option<ResultBox> {
    let (result, job) = (detail.result.as_ref()?, detail.job.job);
    let summary = format!("{}, {}", many(result.files, "file", "files"), size(result.bytes));
    let (files, next, problem) = match api {
        Some(api) => match api.result_entries(job, after, NAMES).await {
            Ok(page) => (page.items, page.next, None),
            Err(problem) => (Vec::new(), None, Some(problem.detail.into())),
        },
        None => (Vec::new(), None, None),
    };
    let next = next.map(|next| crate::form::query([("files_after", next.as_str())]));
    let files = files.into_iter().map(|entry| line(job, entry)).collect();
    Some(ResultBox { summary, attempt: result.attempt, files, next, problem })
}

/// What a change did, by the word in the query, as far as the job agrees: anybody can write a link.
fn did(word: &str, phase: Phase, repeats: bool) -> Option<&'static str> {
    match word {
        "cancel" if matches!(phase, Phase::Cancelling | Phase::Cancelled) => {
            Some("The cancel was taken. Nothing of this job will be published.")
        }
        "due" if phase == Phase::Queued => Some("The next attempt is due now."),
        "offered" if phase == Phase::Queued => Some("The job is offered again."),
        "repeated" if repeats => Some("This new job repeats the other one."),
        _ => None,
    }
}

fn checkpoint(detail: &JobDetail, now: Moment) -> Option<CheckpointBox> {
    detail.checkpoint.as_ref().map(|one| CheckpointBox {
        sealed: count(one.sealed),
        attempt: one.attempt,
        revision: one.revision,
        at: when(one.at, now),
        progress: progress(&one.progress),
    })
}

/// Whether a retry would be taken: what has succeeded, or is under way, has nothing to retry.
fn may_retry(phase: Phase, set_aside: bool) -> bool {
    matches!(phase, Phase::Failed | Phase::Cancelled | Phase::RetryWait) || set_aside
}

pub(crate) async fn job(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    Path(text): Path<String>,
    asked: Parts,
) -> Reply {
    let job: JobId = id("job", &text)?;
    let fields = Fields::read(asked.uri.query().unwrap_or_default());
    // A page that is shown already is refreshed with every step of its job: log and names are not read anew for that.
    let target = (!asked.headers.contains_key(REFRESH)).then_some(&*desk.api);
    let (now, detail) = (now(), desk.api.job(job).await?);
    let why = desk.api.why(job).await;
    let hidden = detail.attempts.len().saturating_sub(LANES);
    let entries = detail.attempts[hidden..].iter().rev();
    let row = row(&detail.job, now);
    let phase = detail.job.phase;
    let mut frame = Frame::of(&caller, "jobs", row.title.clone());
    if !phase.is_terminal() {
        frame = frame.live(format!("/v1/jobs/{job}/events"));
    }
    let shown = JobPage {
        frame,
        did: fields.one("did").and_then(|word| did(word, phase, detail.retry_of.is_some())),
        may_cancel: !phase.is_terminal() && phase != Phase::Cancelling,
        may_retry: may_retry(phase, detail.job.set_aside.is_some()),
        why: why_box(&why, now),
        timeline: timeline(&detail, now),
        entries: entries.map(|attempt| entry(attempt, why.as_ref().ok(), now)).collect(),
        hidden,
        checkpoint: checkpoint(&detail, now),
        timeout: detail.timeout_ms.map_or_else(|| "none".to_owned(), lasting),
        retries: format!("after {} to {}", lasting(detail.retry_base_ms), lasting(detail.retry_cap_ms)),
        env: detail.program.as_ref().map(|program| program.env.join(", ")).unwrap_or_default(),
        log: match target {
            Some(api) => tail(api, &detail).await,
            None => unread(&detail),
        },
        result: result_box(target, &detail, fields.one("files_after")).await,
        retry_of: detail.retry_of.map(|job| job.to_string()),
        due: when(detail.job.due_at, now),
        row,
        detail,
    };
    Ok(page(StatusCode::OK, &shown))
}

/// The answer to the only job of a batch.
fn only<T>(answers: Vec<api::v1::Item<T>>) -> Answer<T> {
    let missing = || Problem::new(api::v1::Code::Damaged, "the answer to one job is missing");
    answers.into_iter().next().ok_or_else(missing)?.into_result()
}

pub(crate) async fn cancel(State(desk): State<Arc<Desk>>, Path(text): Path<String>) -> Reply {
    let job: JobId = id("job", &text)?;
    only(desk.api.cancel(&[job]).await?)?;
    Ok(go(&format!("/jobs/{job}?did=cancel")))
}

pub(crate) async fn retry(State(desk): State<Arc<Desk>>, Path(text): Path<String>) -> Reply {
    let job: JobId = id("job", &text)?;
    let retried = only(desk.api.retry(&[job]).await?)?;
    let did = match retried.retried {
        api::v1::RetriedAs::DueNow => "due",
        api::v1::RetriedAs::Offered => "offered",
        api::v1::RetriedAs::NewJob => "repeated",
    };
    Ok(go(&format!("/jobs/{}?did={did}", retried.now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_is_offered_where_it_is_taken() {
        use Phase::{Cancelled, Cancelling, Failed, Queued, RetryWait, Running, Succeeded};
        for phase in [RetryWait, Failed, Cancelled] {
            assert!(may_retry(phase, false), "{phase}");
        }
        for phase in [Queued, Running, Cancelling, Succeeded] {
            assert!(!may_retry(phase, false), "{phase}");
        }
        assert!(may_retry(Queued, true));
    }

    #[test]
    fn a_link_cannot_claim_a_change_that_the_job_does_not_know() {
        assert!(did("cancel", Phase::Cancelling, false).is_some());
        for (word, phase) in [
            ("cancel", Phase::Running),
            ("due", Phase::Failed),
            ("repeated", Phase::Queued),
            ("x", Phase::Queued),
        ] {
            assert_eq!(did(word, phase, false), None, "{word}");
        }
    }
}
