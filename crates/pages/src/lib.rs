//! The pages of an operator: what runs, what waits and why, where results are.
//!
//! [`router`] answers with HTML from an [`api::Api`]. Promises: every page works without JavaScript, and is live with it;
//! whatever a job says is shown as text; nothing is changed but by POST; a page reads a bounded part of the jobs, however
//! many there are. Does not let anybody in and does not look where a change comes from: it stands behind the door of
//! `web`, which does, and decides nothing about jobs. The spec does not speak of it.

mod answer;
mod assets;
mod form;
mod page;
mod view;

use std::sync::Arc;

use api::Api;
use axum::Router;
use axum::routing::{get, post};

use page::overview::Shared;

pub use answer::problem_page;

/// Beginnings of paths that a login page needs before anybody is let in.
pub const PUBLIC: [&str; 1] = ["/assets/"];

/// What handlers work with.
pub(crate) struct Desk {
    pub(crate) api: Arc<dyn Api>,
    /// The overview that all who look at it share.
    pub(crate) overview: Shared,
}

/// Every page, over the port.
pub fn router(api: Arc<dyn Api>) -> Router {
    use page::{file, job, jobs, limits, login, overview, queues, workers};
    let desk = Arc::new(Desk { api, overview: Shared::default() });
    Router::new()
        .route("/", get(overview::overview))
        .route("/jobs", get(jobs::jobs))
        .route("/jobs/cancel", post(jobs::cancel))
        .route("/jobs/retry", post(jobs::retry))
        .route("/jobs/{job}", get(job::job))
        .route("/jobs/{job}/cancel", post(job::cancel))
        .route("/jobs/{job}/retry", post(job::retry))
        .route("/jobs/{job}/files/{*path}", get(file::file))
        .route("/jobs/{job}/images/{*path}", get(file::image))
        .route("/workers", get(workers::workers))
        .route("/workers/{incarnation}/drain", post(workers::drain))
        .route("/queues", get(queues::queues))
        .route("/queues/pause", post(queues::pause))
        .route("/queues/resume", post(queues::resume))
        .route("/limits", get(limits::limits).post(limits::change))
        .route("/login", get(login::login))
        .route("/assets/{name}", get(assets::asset))
        .with_state(desk)
}
