//! Submit, cancel, retry: one job or many.

use std::sync::Arc;

use api::v1::{Cancelled, Code, Item, Items, JobIds, Retried, Submission, Submissions, Submitted};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::{JobId, limit};
use serde_json::value::RawValue;

use super::Places;
use crate::access::About;
use crate::body::{BATCH, Body, Document, Object, parse};
use crate::problem::{Refused, Reply};
use crate::query::Query;
use crate::router::Desk;

/// [`Submissions`] whose elements are read one by one: a bad one harms only itself.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    jobs: Vec<Box<RawValue>>,
}

/// Ids that the trail names of a batch.
const NAMED: usize = 10;

fn missing() -> Refused {
    Refused::new(Code::Damaged, "the answer to one job is missing")
}

/// The answer to a batch of one.
fn only<T>(answers: Vec<Item<T>>) -> Reply<T> {
    Ok(answers.into_iter().next().ok_or_else(missing)?.into_result()?)
}

fn about(jobs: &[JobId], of: usize) -> About {
    let named: Vec<_> = jobs.iter().take(NAMED).map(ToString::to_string).collect();
    let more = of.saturating_sub(named.len());
    let names = named.join(" ");
    About(if more == 0 { names } else { format!("{names} and {more} more of {of}") })
}

/// A batch is no larger than what one answer can say.
fn bounded(jobs: usize) -> Reply<()> {
    if u64::try_from(jobs).is_ok_and(|jobs| jobs <= limit::BATCH_JOBS) {
        return Ok(());
    }
    let allowed = format!("at most {}", limit::BATCH_JOBS);
    Err(Refused::new(Code::Invalid, format!("jobs is a list of {jobs}; allowed is {allowed}"))
        .field("jobs")
        .allowed(&allowed))
}

/// The key in the header, put into the submission.
fn with_key(mut submission: Submission, headers: &HeaderMap) -> Reply<Submission> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(submission) };
    let wrong = |text: &str| Refused::new(Code::Invalid, text).field("idempotency_key");
    let key =
        std::str::from_utf8(value.as_bytes()).map_err(|_| wrong("the header Idempotency-Key is no UTF-8"))?;
    if submission.idempotency_key.as_deref().is_some_and(|field| field != key) {
        return Err(wrong("the header Idempotency-Key and the field idempotency_key differ"));
    }
    submission.idempotency_key = Some(key.to_owned());
    Ok(submission)
}

/// Accepts a job.
#[utoipa::path(
    post, path = "/v1/jobs", tag = "jobs",
    params(("Idempotency-Key" = Option<String>, Header, description = "The same as the field `idempotency_key`.", min_length = 1, max_length = 256)),
    request_body(content = Submission, content_type = "application/json"),
    responses(
        (status = 201, description = "It is accepted.", body = Submitted, headers(("Location" = String, description = "The job's path."))),
        (status = 200, description = "It was there already, under this key.", body = Submitted, headers(("Location" = String, description = "The job's path."))),
    ),
    security(("token" = ["submit"])),
)]
pub(crate) async fn submit(
    State(desk): State<Arc<Desk>>,
    (query, headers): (Query, HeaderMap),
    Body(submission): Body<Submission>,
) -> Reply<Response> {
    query.end()?;
    let submitted = only(desk.api.submit(vec![with_key(submission, &headers)?]).await?)?;
    let status = if submitted.existed { StatusCode::OK } else { StatusCode::CREATED };
    let mut response = (status, Document(&submitted)).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/jobs/{}", submitted.job)) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response.extensions_mut().insert(about(&[submitted.job], 1));
    Ok(response)
}

/// Accepts jobs, each for itself: an item of the answer says what came of each.
#[utoipa::path(
    post, path = "/v1/jobs/batch", tag = "jobs",
    request_body(content = Submissions, content_type = "application/json"),
    responses((status = 200, description = "What came of each, in their order.", body = Items<Submitted>)),
    security(("token" = ["submit"])),
)]
pub(crate) async fn submit_batch(
    State(desk): State<Arc<Desk>>,
    query: Query,
    Body(batch): Body<Batch, BATCH>,
) -> Reply<Response> {
    query.end()?;
    bounded(batch.jobs.len())?;
    let count = batch.jobs.len();
    let read = |job: &RawValue| parse::<Object<Submission>>(job.get().as_bytes()).map(|job| job.0);
    let (mut good, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for job in batch.jobs.iter().map(|job| read(job)) {
        places.push(job.map(|job| good.push(job)));
    }
    let mut answers = desk.api.submit(good).await?.into_iter();
    let mut items = Vec::with_capacity(count);
    for place in places {
        items.push(match place {
            Ok(()) => answers.next().ok_or_else(missing)?,
            Err(refused) => Item::Problem(*refused.0),
        });
    }
    let jobs: Vec<_> = items.iter().filter_map(|item| item.done().map(|done| done.job)).collect();
    Ok(answered(items, about(&jobs, count)))
}

fn answered<T: serde::Serialize>(items: Vec<Item<T>>, about: About) -> Response {
    let mut response = Document(Items { items }).into_response();
    response.extensions_mut().insert(about);
    response
}

/// Asks for cancels. Of a job that is cancelled or cancelling nothing will be published.
#[utoipa::path(
    post, path = "/v1/jobs/cancel", tag = "jobs",
    request_body(content = JobIds, content_type = "application/json"),
    responses((status = 200, description = "What came of each, in their order.", body = Items<Cancelled>)),
    security(("token" = ["operate"])),
)]
pub(crate) async fn cancel_batch(
    State(desk): State<Arc<Desk>>,
    query: Query,
    Body(batch): Body<JobIds>,
) -> Reply<Response> {
    query.end()?;
    bounded(batch.jobs.len())?;
    Ok(answered(desk.api.cancel(&batch.jobs).await?, about(&batch.jobs, batch.jobs.len())))
}

/// Retries jobs: waiting ones at once, ended ones as new jobs.
#[utoipa::path(
    post, path = "/v1/jobs/retry", tag = "jobs",
    request_body(content = JobIds, content_type = "application/json"),
    responses((status = 200, description = "What came of each, in their order.", body = Items<Retried>)),
    security(("token" = ["operate"])),
)]
pub(crate) async fn retry_batch(
    State(desk): State<Arc<Desk>>,
    query: Query,
    Body(batch): Body<JobIds>,
) -> Reply<Response> {
    query.end()?;
    bounded(batch.jobs.len())?;
    Ok(answered(desk.api.retry(&batch.jobs).await?, about(&batch.jobs, batch.jobs.len())))
}

/// Asks for a cancel. From the answer on nothing of the job will be published.
#[utoipa::path(
    post, path = "/v1/jobs/{job}/cancel", tag = "jobs",
    params(("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$")),
    responses((status = 200, description = "It is cancelled, or cancelling.", body = Cancelled)),
    security(("token" = ["operate"])),
)]
pub(crate) async fn cancel(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    let job = places.job()?;
    Ok(Document(only(desk.api.cancel(&[job]).await?)?).into_response())
}

/// Retries a job: one that waits at once, one that has ended as a new job.
#[utoipa::path(
    post, path = "/v1/jobs/{job}/retry", tag = "jobs",
    params(("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$")),
    responses((status = 200, description = "What was done.", body = Retried)),
    security(("token" = ["operate"])),
)]
pub(crate) async fn retry(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    let job = places.job()?;
    Ok(Document(only(desk.api.retry(&[job]).await?)?).into_response())
}
