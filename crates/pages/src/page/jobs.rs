//! The list of jobs: filters, pages, and changes to many at once.

use std::sync::Arc;

use api::Problem;
use api::v1::{Code, Item, Job, JobQuery, Moment, Page, RetriedAs};
use askama::Template;
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use protocol::{JobId, Phase, Timestamp};
use web::{About, Caller, Outcome};

use crate::Desk;
use crate::answer::{Frame, Reply, page};
use crate::form::{Fields, query, wrong};
use crate::view::job::{Row, row};
use crate::view::words::{When, many, now, phase_words, when};

/// Jobs on a page.
const PAGE: u32 = 50;
/// Ids that the trail names of a batch.
const NAMED: usize = 10;
/// Fields that make a list what it is; the cursor goes on in it.
const FILTERS: [&str; 7] = ["phase", "kind", "queue", "worker", "text", "created_from", "created_until"];

struct Choice {
    phase: Phase,
    words: &'static str,
    chosen: bool,
}

#[derive(Template)]
#[template(path = "jobs.html")]
struct JobsPage {
    frame: Frame,
    choices: Vec<Choice>,
    kind: String,
    queue: String,
    worker: String,
    text: String,
    from: String,
    until: String,
    filtered: bool,
    /// Whether a filter beside phase and text is set.
    narrowed: bool,
    wrong: Option<String>,
    rows: Vec<Row>,
    /// Where the search ended, where it did so before the page was full.
    searched: Option<When>,
    newest: Option<String>,
    next: Option<String>,
}

/// What a field for date and time sends, or a moment as documents have it; UTC.
fn moment(fields: &Fields, name: &str) -> Result<Option<Moment>, Problem> {
    let Some(text) = fields.one(name) else { return Ok(None) };
    let seconds = if text.len() == 16 { ":00Z" } else { "Z" };
    let read = text.parse().or_else(|_| format!("{text}{seconds}").parse());
    read.map(Some).map_err(|_| wrong(name, text, "a moment such as 2026-12-24T18:00"))
}

fn asked(fields: &Fields) -> Result<JobQuery, Problem> {
    let phases: Result<Vec<Phase>, Problem> = fields
        .all("phase")
        .map(|name| name.parse().map_err(|_| wrong("phase", name, "one of the phases")))
        .collect();
    Ok(JobQuery {
        phase: phases?,
        kind: fields.text("kind"),
        queue: fields.text("queue"),
        worker: fields.text("worker"),
        created_from: moment(fields, "created_from")?,
        created_until: moment(fields, "created_until")?,
        text: fields.text("text"),
        cursor: fields.text("cursor"),
        limit: Some(PAGE),
    })
}

/// When the job that a cursor names was accepted: its id begins with that.
fn accepted(cursor: &str) -> Option<Moment> {
    let JobId(id) = cursor.parse().ok()?;
    i64::try_from(id >> 80).ok().map(|ms| Moment(Timestamp(ms)))
}

/// A link to this list, at another place in it.
fn link(fields: &Fields, cursor: Option<&str>) -> String {
    let filters = FILTERS.iter().flat_map(|name| fields.all(name).map(move |value| (*name, value)));
    let text = query(filters.chain(cursor.map(|cursor| ("cursor", cursor))));
    if text.is_empty() { "/jobs".to_owned() } else { format!("/jobs?{text}") }
}

fn frame(caller: &Caller) -> Frame {
    Frame::of(caller, "jobs", "Jobs").live("/v1/events")
}

fn shown(caller: &Caller, fields: &Fields, found: Page<Job>) -> JobsPage {
    let now = now();
    let value = |name| fields.text(name).unwrap_or_default();
    let chosen = |phase: Phase| fields.all("phase").any(|name| name == phase.name());
    let full = u32::try_from(found.items.len()).is_ok_and(|items| items >= PAGE);
    let searched = found.next.as_deref().filter(|_| !full).and_then(accepted);
    let choices = Phase::ALL.into_iter().map(|phase| Choice {
        phase,
        words: phase_words(phase),
        chosen: chosen(phase),
    });
    JobsPage {
        frame: frame(caller),
        choices: choices.collect(),
        kind: value("kind"),
        queue: value("queue"),
        worker: value("worker"),
        text: value("text"),
        from: value("created_from"),
        until: value("created_until"),
        filtered: FILTERS.iter().any(|name| fields.one(name).is_some()),
        narrowed: FILTERS.iter().any(|name| !["phase", "text"].contains(name) && fields.one(name).is_some()),
        wrong: None,
        rows: found.items.iter().map(|job| row(job, now)).collect(),
        searched: searched.map(|at| when(at, now)),
        newest: fields.one("cursor").map(|_| link(fields, None)),
        next: found.next.as_deref().map(|cursor| link(fields, Some(cursor))),
    }
}

pub(crate) async fn jobs(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Reply {
    let fields = Fields::read(query.as_deref().unwrap_or_default());
    let found = match asked(&fields) {
        Ok(query) => desk.api.jobs(&query).await,
        Err(problem) => Err(problem),
    };
    match found {
        Ok(found) => Ok(page(StatusCode::OK, &shown(&caller, &fields, found))),
        Err(problem) if problem.code == Code::Invalid => {
            let mut shown = shown(&caller, &fields, Page { items: Vec::new(), next: None });
            shown.wrong = Some(problem.detail.into());
            Ok(page(StatusCode::UNPROCESSABLE_ENTITY, &shown))
        }
        Err(problem) => Err(problem.into()),
    }
}

/// What came of one job of a batch.
struct Done {
    job: String,
    text: String,
    /// The job that goes on, where it is another one.
    now: Option<String>,
    ok: bool,
}

#[derive(Template)]
#[template(path = "done.html")]
struct DonePage {
    frame: Frame,
    heading: &'static str,
    summary: String,
    items: Vec<Done>,
}

/// The chosen jobs of a form.
fn chosen(form: &str) -> Result<Vec<JobId>, Problem> {
    let fields = Fields::read(form);
    fields.all("job").map(|text| text.parse().map_err(|_| wrong("job", text, "a job's id"))).collect()
}

fn done(caller: &Caller, heading: &'static str, items: Vec<Done>) -> Response {
    let good = items.iter().filter(|item| item.ok).count();
    let number = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let summary = match (items.len(), items.len() - good) {
        (0, _) => "No job was chosen.".to_owned(),
        (all, 0) => format!("{}: all done.", many(number(all), "job", "jobs")),
        (all, bad) => format!("{} of {}; {bad} could not.", good, many(number(all), "job", "jobs")),
    };
    let named: Vec<_> = items.iter().take(NAMED).map(|item| item.job.as_str()).collect();
    let more = items.len().saturating_sub(NAMED);
    let about = if more == 0 { named.join(" ") } else { format!("{} and {more} more", named.join(" ")) };
    let failed = good == 0 && !items.is_empty();
    let frame = Frame::of(caller, "jobs", heading);
    let mut response = page(StatusCode::OK, &DonePage { frame, heading, summary, items });
    response.extensions_mut().insert(About(about));
    if failed {
        response.extensions_mut().insert(Outcome(Code::Refused));
    }
    response
}

fn item<T>(job: JobId, item: Item<T>, words: impl FnOnce(T) -> (String, Option<JobId>)) -> Done {
    match item.into_result() {
        Ok(value) => {
            let (text, now) = words(value);
            let now = now.filter(|now| *now != job).map(|now| now.to_string());
            Done { job: job.to_string(), text, now, ok: true }
        }
        Err(problem) => Done { job: job.to_string(), text: problem.detail.into(), now: None, ok: false },
    }
}

pub(crate) async fn cancel(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    form: String,
) -> Reply {
    let jobs = chosen(&form)?;
    let answers = if jobs.is_empty() { Vec::new() } else { desk.api.cancel(&jobs).await? };
    let items = jobs.into_iter().zip(answers).map(|(job, answer)| {
        item(job, answer, |cancelled| (format!("{}: nothing of it will be published", cancelled.phase), None))
    });
    Ok(done(&caller, "Cancelled", items.collect()))
}

/// What a retry did, in words.
fn retried(how: RetriedAs) -> &'static str {
    match how {
        RetriedAs::DueNow => "its next attempt is due now",
        RetriedAs::Offered => "it is offered again",
        RetriedAs::NewJob => "a new job repeats it",
    }
}

pub(crate) async fn retry(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    form: String,
) -> Reply {
    let jobs = chosen(&form)?;
    let answers = if jobs.is_empty() { Vec::new() } else { desk.api.retry(&jobs).await? };
    let items = jobs.into_iter().zip(answers).map(|(job, answer)| {
        item(job, answer, |answer| (retried(answer.retried).to_owned(), Some(answer.now)))
    });
    Ok(done(&caller, "Retried", items.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_goes_on_in_the_same_list() {
        let fields = Fields::read("phase=queued&phase=failed&text=a%26b&cursor=x&other=1");
        assert_eq!(link(&fields, Some("y")), "/jobs?phase=queued&phase=failed&text=a%26b&cursor=y");
        assert_eq!(link(&Fields::default(), None), "/jobs");
    }

    #[test]
    fn a_moment_is_read_as_a_browser_sends_it_and_as_documents_have_it() {
        for text in ["2026-12-24T18:00", "2026-12-24T18:00:00", "2026-12-24T18:00:00Z"] {
            let fields = Fields::read(&format!("created_from={text}"));
            let at = moment(&fields, "created_from").unwrap().unwrap();
            assert_eq!(at.to_string(), "2026-12-24T18:00:00.000Z", "{text}");
        }
        assert!(moment(&Fields::read("created_from=monday"), "created_from").is_err());
    }

    #[test]
    fn a_cursor_says_how_far_back_was_looked() {
        let job = JobId::v7(1_796_000_000_123, 1);
        assert_eq!(accepted(&job.to_string()), Some(Moment(Timestamp(1_796_000_000_123))));
        assert_eq!(accepted("x"), None);
    }
}
