//! Jobs as they are: lists, one, its events, its log.

use std::sync::Arc;

use api::v1::{Code, EventRecord, Job, JobDetail, JobQuery, Page};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::Places;
use crate::access::Caller;
use crate::body::Document;
use crate::problem::{Refused, Reply};
use crate::query::Query;
use crate::router::Desk;
use crate::streams;

/// Letters of a text that is looked for.
const LONGEST_TEXT: usize = 256;

fn asked(mut query: Query) -> Reply<JobQuery> {
    let asked = JobQuery {
        phase: query.all("phase")?,
        kind: query.text("kind")?,
        queue: query.text("queue")?,
        worker: query.text("worker")?,
        created_from: query.one("created_from")?,
        created_until: query.one("created_until")?,
        text: query.text("text")?,
        cursor: query.text("cursor")?,
        limit: query.number("limit", (1, 1_000))?,
    };
    query.end()?;
    if asked.text.as_ref().is_some_and(|text| text.chars().count() > LONGEST_TEXT) {
        let detail = format!("the query's `text` is longer than {LONGEST_TEXT} letters");
        return Err(Refused::new(Code::Invalid, detail).field("text").allowed("3 to 256 letters"));
    }
    Ok(asked)
}

/// Jobs, newest first. All that is named must hold.
#[utoipa::path(
    get, path = "/v1/jobs", tag = "jobs",
    params(
        ("phase" = Option<Vec<api::v1::PhaseName>>, Query, description = "One of these phases; repeated, or joined by commas."),
        ("kind" = Option<String>, Query, description = "This kind.", min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$"),
        ("queue" = Option<String>, Query, description = "This queue.", min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$"),
        ("worker" = Option<String>, Query, description = "Running under this worker now: its name or its incarnation.", min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$"),
        ("created_from" = Option<String>, Query, description = "Accepted at or after this moment.", format = DateTime),
        ("created_until" = Option<String>, Query, description = "Accepted before this moment.", format = DateTime),
        ("text" = Option<String>, Query, description = "This text in id, kind, command or last error.", min_length = 3, max_length = 256, pattern = "^[^\\x00]*$"),
        ("cursor" = Option<String>, Query, description = "`next` of the page before.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$"),
        ("limit" = Option<u32>, Query, description = "At most so many; 50 unless said.", minimum = 1, maximum = 1000),
    ),
    responses((status = 200, description = "A page of jobs.", body = Page<Job>)),
    security(("token" = ["read"])),
)]
pub(crate) async fn jobs(State(desk): State<Arc<Desk>>, query: Query) -> Reply<Response> {
    Ok(Document(desk.api.jobs(&asked(query)?).await?).into_response())
}

/// One job with its attempts.
#[utoipa::path(
    get, path = "/v1/jobs/{job}", tag = "jobs",
    params(("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$")),
    responses((status = 200, description = "The job.", body = JobDetail)),
    security(("token" = ["read"])),
)]
pub(crate) async fn job(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.job(places.job()?).await?).into_response())
}

/// The job now and whenever something of it changes, until it has ended: server-sent events.
///
/// A stream that is taken up again with `Last-Event-ID` goes on with what is newer: the state now, never the steps between.
#[utoipa::path(
    get, path = "/v1/jobs/{job}/events", tag = "jobs",
    params(
        ("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$"),
        ("Last-Event-ID" = Option<String>, Header, description = "The last event's id."),
    ),
    responses((status = 200, description = "Events, each with an `EventRecord` as data.", body = EventRecord, content_type = "text/event-stream")),
    security(("token" = ["read"])),
)]
pub(crate) async fn watch_job(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    places: Places,
    (query, headers): (Query, HeaderMap),
) -> Reply<Response> {
    query.end()?;
    let place = desk.gate.stream(&caller)?;
    let events = desk.api.watch(places.job()?).await?;
    Ok(streams::events(&desk, (caller, place), events, &headers))
}

/// Whatever changes in the installation, coalesced; begins with the overview: server-sent events.
#[utoipa::path(
    get, path = "/v1/events", tag = "state",
    params(("Last-Event-ID" = Option<String>, Header, description = "The last event's id.")),
    responses((status = 200, description = "Events, each with an `EventRecord` as data.", body = EventRecord, content_type = "text/event-stream")),
    security(("token" = ["read"])),
)]
pub(crate) async fn watch_all(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    (query, headers): (Query, HeaderMap),
) -> Reply<Response> {
    query.end()?;
    let place = desk.gate.stream(&caller)?;
    let events = desk.api.events().await?;
    Ok(streams::events(&desk, (caller, place), events, &headers))
}

/// The log of an attempt: of the last one when none is named. Following ends with the attempt.
#[utoipa::path(
    get, path = "/v1/jobs/{job}/log", tag = "jobs",
    params(
        ("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$"),
        ("attempt" = Option<u32>, Query, description = "The attempt's token.", minimum = 1, maximum = 32767),
        ("follow" = Option<bool>, Query, description = "Whether to go on with what is still written."),
    ),
    responses((status = 200, description = "The log as the program wrote it.", body = String, content_type = "text/plain")),
    security(("token" = ["read"])),
)]
pub(crate) async fn log(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    places: Places,
    mut query: Query,
) -> Reply<Response> {
    let attempt = query.number("attempt", (1, protocol::limit::MAX_ATTEMPTS))?;
    let follow = query.one::<bool>("follow")?.unwrap_or(false);
    query.end()?;
    let place = desk.gate.stream(&caller)?;
    let bytes = desk.api.log(places.job()?, attempt, follow).await?;
    let body = Body::from_stream(streams::bytes(&desk, (caller, place), bytes));
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))];
    Ok((kind, body).into_response())
}
