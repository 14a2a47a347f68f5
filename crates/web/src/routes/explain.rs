//! Why, inspect, doctor.

use std::sync::Arc;

use api::v1::{Inspection, RoomReport, Why};
use axum::extract::State;
use axum::response::{IntoResponse, Response};

use super::Places;
use crate::body::Document;
use crate::problem::Reply;
use crate::query::Query;
use crate::router::Desk;

/// What a job waits for, why its attempts ended, and what comes next.
#[utoipa::path(
    get, path = "/v1/jobs/{job}/why", tag = "jobs",
    params(("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$")),
    responses((status = 200, description = "Read from the rooms at this moment.", body = Why)),
    security(("token" = ["read"])),
)]
pub(crate) async fn why(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.why(places.job()?).await?).into_response())
}

/// The three rooms side by side, with the spec's invariants evaluated on them.
#[utoipa::path(
    get, path = "/v1/jobs/{job}/inspect", tag = "jobs",
    params(("job" = String, Path, description = "The job.", pattern = "^job_[0-7][0-9a-hjkmnp-tv-z]{25}$")),
    responses((status = 200, description = "What each room holds.", body = Inspection)),
    security(("token" = ["read"])),
)]
pub(crate) async fn inspect(State(desk): State<Arc<Desk>>, places: Places, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.inspect(places.job()?).await?).into_response())
}

/// Examines each room.
#[utoipa::path(
    get, path = "/v1/doctor", tag = "state",
    responses((status = 200, description = "What was found of each room.", body = Vec<RoomReport>)),
    security(("token" = ["read"])),
)]
pub(crate) async fn doctor(State(desk): State<Arc<Desk>>, query: Query) -> Reply<Response> {
    query.end()?;
    Ok(Document(desk.api.doctor().await?).into_response())
}
