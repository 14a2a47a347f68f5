//! The pool, its queues and workers.

use std::sync::Arc;

use api::v1::{Overview, Pool, PoolChange, Queue, Worker};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::Places;
use crate::access::About;
use crate::body::{Body, Document};
use crate::problem::Reply;
use crate::query::Query;
use crate::router::Desk;

/// Workers as they registered, with the leases they hold.
#[utoipa::path(
    get, path = "/v1/workers", tag = "pool",
    responses((status = 200, description = "The workers.", body = Vec<Worker>)),
    security(("token" = ["read"])),
)]
pub(crate) async fn workers(State(desk): State<Arc<Desk>>, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.workers().await?).into_response())
}

/// Asks a worker to take no more work and to end when what it runs has ended or was handed back.
#[utoipa::path(
    post, path = "/v1/workers/{incarnation}/drain", tag = "pool",
    params(("incarnation" = String, Path, description = "The worker's incarnation.", pattern = "^wrk_[0-7][0-9a-hjkmnp-tv-z]{25}$")),
    responses((status = 204, description = "It was asked.")),
    security(("token" = ["operate"])),
)]
pub(crate) async fn drain(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<StatusCode> {
    query.end()?;
    desk.api.drain(places.worker()?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Queues with what is in them.
#[utoipa::path(
    get, path = "/v1/queues", tag = "pool",
    responses((status = 200, description = "The queues.", body = Vec<Queue>)),
    security(("token" = ["read"])),
)]
pub(crate) async fn queues(State(desk): State<Arc<Desk>>, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.queues().await?).into_response())
}

/// Starts nothing more from a queue.
#[utoipa::path(
    post, path = "/v1/queues/{queue}/pause", tag = "pool",
    params(("queue" = String, Path, description = "The queue's name.", min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$")),
    responses((status = 200, description = "The pool with the queue paused.", body = Pool)),
    security(("token" = ["operate"])),
)]
pub(crate) async fn pause(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    let change = PoolChange { pause: Some(places.text("queue").to_owned()), ..PoolChange::default() };
    Ok(Document(desk.api.configure(&change).await?).into_response())
}

/// Starts jobs from a queue again.
#[utoipa::path(
    post, path = "/v1/queues/{queue}/resume", tag = "pool",
    params(("queue" = String, Path, description = "The queue's name.", min_length = 1, max_length = 128, pattern = r"^[\w\-.:/+\[\]<>]+$")),
    responses((status = 200, description = "The pool without the pause.", body = Pool)),
    security(("token" = ["operate"])),
)]
pub(crate) async fn resume(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    let change = PoolChange { resume: Some(places.text("queue").to_owned()), ..PoolChange::default() };
    Ok(Document(desk.api.configure(&change).await?).into_response())
}

/// The pool: limits and what is in use.
#[utoipa::path(
    get, path = "/v1/pool", tag = "pool",
    responses((status = 200, description = "The pool.", body = Pool)),
    security(("token" = ["read"])),
)]
pub(crate) async fn pool(State(desk): State<Arc<Desk>>, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.pool().await?).into_response())
}

/// Changes limits, lease length or pauses. From the answer on nothing is reserved under the old ones.
#[utoipa::path(
    patch, path = "/v1/pool", tag = "pool",
    request_body(content = PoolChange, content_type = "application/json"),
    responses((status = 200, description = "The pool after the change.", body = Pool)),
    security(("token" = ["admin"])),
)]
pub(crate) async fn configure(
    State(desk): State<Arc<Desk>>,
    query: Query,
    Body(change): Body<PoolChange>,
) -> Reply<Response> {
    query.end()?;
    let mut response = Document(desk.api.configure(&change).await?).into_response();
    let text = serde_json::to_string(&change).unwrap_or_default();
    response.extensions_mut().insert(About(format!("pool {text}")));
    Ok(response)
}

/// What an operator looks at first.
#[utoipa::path(
    get, path = "/v1/overview", tag = "state",
    responses((status = 200, description = "The overview.", body = Overview)),
    security(("token" = ["read"])),
)]
pub(crate) async fn overview(State(desk): State<Arc<Desk>>, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.overview().await?).into_response())
}
