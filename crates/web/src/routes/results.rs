//! Published results, straight from the target.

use std::sync::Arc;

use api::FileBody;
use api::v1::{Page, ResultEntry, ResultSummary};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::Places;
use crate::access::Caller;
use crate::body::Document;
use crate::files::{self, Part};
use crate::problem::{Refused, Reply};
use crate::query::Query;
use crate::router::Desk;
use crate::streams;

/// The published result of a job.
#[utoipa::path(
    get, path = "/v1/jobs/{job}/result", tag = "results",
    params(("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$")),
    responses((status = 200, description = "The result.", body = ResultSummary)),
    security(("token" = ["read"])),
)]
pub(crate) async fn result(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.result(places.job()?).await?).into_response())
}

/// What is in it, in the order of the paths.
#[utoipa::path(
    get, path = "/v1/jobs/{job}/result/entries", tag = "results",
    params(
        ("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$"),
        ("after" = Option<String>, Query, description = "The path after which the page begins.", pattern = "^[^\\x00]*$"),
        ("limit" = Option<u32>, Query, description = "At most so many; 100 unless said.", minimum = 1, maximum = 1000),
    ),
    responses((status = 200, description = "A page of entries.", body = Page<ResultEntry>)),
    security(("token" = ["read"])),
)]
pub(crate) async fn result_entries(
    State(desk): State<Arc<Desk>>,
    places: Places,
    mut query: Query,
) -> Reply<Response> {
    let after = query.text("after")?;
    let limit = query.number("limit", (1, 1_000))?.unwrap_or(100);
    query.end()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Document(desk.api.result_entries(places.job()?, after.as_deref(), limit).await?).into_response())
}

/// A file of it: whole, or one range of its bytes.
#[utoipa::path(
    get, path = "/v1/jobs/{job}/result/files/{path}", tag = "results",
    params(
        ("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$"),
        ("path" = String, Path, description = "The file's path in the result; `/` between names.", min_length = 1),
        ("Range" = Option<String>, Header, description = "One range of bytes."),
        ("If-Range" = Option<String>, Header, description = "The entity tag that the range is of."),
        ("If-None-Match" = Option<String>, Header, description = "The entity tag that is known already."),
    ),
    responses(
        (status = 200, description = "The file.", body = Vec<u8>, content_type = "application/octet-stream",
            headers(("ETag" = String, description = "`blake3-` and the file's digest."), ("Repr-Digest" = String, description = "The same after RFC 9530."))),
        (status = 206, description = "The range.", body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 304, description = "It is what is known."),
    ),
    security(("token" = ["read"])),
)]
pub(crate) async fn result_file(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    places: Places,
    (query, method, headers): (Query, Method, HeaderMap),
) -> Reply<Response> {
    query.end()?;
    let (job, path) = (places.job()?, places.text("path"));
    let place = desk.gate.stream(&caller)?;
    let known = desk.api.result_file(job, path, 0..0).await?;
    let tag = files::tag(known.digest.as_deref());
    if tag.as_deref().is_some_and(|tag| files::names(&headers, header::IF_NONE_MATCH, tag)) {
        return Ok(described(StatusCode::NOT_MODIFIED.into_response(), path, &known));
    }
    let part = match files::part(&headers, known.length, tag.as_deref()) {
        Ok(part) => part,
        Err(refused) => return Ok(outside(refused, known.length)),
    };
    let (status, range) = match part {
        Part::Whole => (StatusCode::OK, 0..known.length),
        Part::Of(range) => (StatusCode::PARTIAL_CONTENT, range),
    };
    let body = if method == Method::HEAD || range.is_empty() {
        Body::empty()
    } else {
        let file = desk.api.result_file(job, path, range.clone()).await?;
        Body::from_stream(streams::bytes(&desk, (caller, place), file.bytes))
    };
    let mut response = described((status, body).into_response(), path, &known);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(range.end - range.start));
    if status == StatusCode::PARTIAL_CONTENT {
        let of = format!("bytes {}-{}/{}", range.start, range.end - 1, known.length);
        if let Ok(value) = HeaderValue::from_str(&of) {
            headers.insert(header::CONTENT_RANGE, value);
        }
    }
    Ok(response)
}

/// A range that cannot be given, with what could be.
fn outside(refused: Refused, length: u64) -> Response {
    let mut response = refused.into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{length}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    response
}

/// With everything that a reader must know of the file.
fn described(mut response: Response, path: &str, file: &FileBody) -> Response {
    let digest = file.digest.as_deref();
    let all = [
        (header::CONTENT_TYPE, Some("application/octet-stream".to_owned())),
        (header::CONTENT_DISPOSITION, Some(files::disposition(path))),
        (header::ACCEPT_RANGES, Some("bytes".to_owned())),
        (header::CACHE_CONTROL, Some("private, no-cache".to_owned())),
        (header::ETAG, files::tag(digest)),
        (header::HeaderName::from_static("repr-digest"), digest.and_then(files::digest)),
    ];
    for (name, value) in all {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
