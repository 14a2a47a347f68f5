//! Telling whoever counts of each answered request: by the template of its route, so that what is told is bounded.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use utoipa::openapi::OpenApi;

/// What everything is called that the OpenAPI document does not name. No path begins with a bracket.
const OTHER: &str = "(other)";

/// What is told of a request: its route, method, status, and how long the answer took to begin.
type Hear = dyn Fn(&str, &'static str, u16, Duration) + Send + Sync;

/// Hears of an answered request: the route's template or `(other)`, method, status, and how long the answer took to begin.
#[derive(Clone)]
pub struct Hearing(pub Arc<Hear>);

impl fmt::Debug for Hearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hearing")
    }
}

/// Who hears, and the templates that are told as they are.
#[derive(Clone)]
pub(crate) struct Ears {
    hearing: Option<Hearing>,
    templates: Arc<BTreeSet<String>>,
}

impl Ears {
    pub(crate) fn new(hearing: Option<Hearing>, document: &OpenApi) -> Self {
        Self { hearing, templates: Arc::new(document.paths.paths.keys().cloned().collect()) }
    }

    fn template<'a>(&'a self, matched: &str) -> &'a str {
        // A path's tail has a star in the router and none in the document.
        self.templates.get(&matched.replace("{*", "{")).map_or(OTHER, String::as_str)
    }
}

fn name(method: &Method) -> &'static str {
    const NAMES: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    NAMES.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}

/// Around everything.
pub(crate) async fn heard(State(ears): State<Ears>, request: Request, next: Next) -> Response {
    let Some(hearing) = &ears.hearing else { return next.run(request).await };
    let template =
        request.extensions().get::<MatchedPath>().map_or(OTHER, |path| ears.template(path.as_str()));
    let (method, begun) = (name(request.method()), Instant::now());
    let response = next.run(request).await;
    (hearing.0)(template, method, response.status().as_u16(), begun.elapsed());
    response
}
