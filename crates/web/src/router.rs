//! Every route, and what stands around all of them.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use api::Api;
use api::v1::Code;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use futures_util::FutureExt as _;
use tokio::sync::watch;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Gate, enter};
use crate::document;
use crate::heard::{Ears, heard};
use crate::options::ProblemPage;
use crate::problem::{Refused, Told};
use crate::routes::{access, changes, explain, jobs, login, pool, results, state};

/// How long an answer may take to begin.
const PATIENCE: Duration = Duration::from_secs(60);

/// What handlers work with.
pub(crate) struct Desk {
    pub(crate) api: Arc<dyn Api>,
    pub(crate) gate: Arc<Gate>,
    /// Turns true when the server ends.
    pub(crate) ends: watch::Receiver<bool>,
    /// The OpenAPI document.
    pub(crate) document: Bytes,
}

/// The API's own routes with their document.
pub(crate) fn api() -> OpenApiRouter<Arc<Desk>> {
    OpenApiRouter::with_openapi(document::frame())
        .routes(routes!(jobs::jobs, changes::submit))
        .routes(routes!(changes::submit_batch))
        .routes(routes!(changes::cancel_batch))
        .routes(routes!(changes::retry_batch))
        .routes(routes!(jobs::job))
        .routes(routes!(changes::cancel))
        .routes(routes!(changes::retry))
        .routes(routes!(explain::why))
        .routes(routes!(explain::inspect))
        .routes(routes!(jobs::watch_job))
        .routes(routes!(jobs::watch_all))
        .routes(routes!(jobs::log))
        .routes(routes!(results::result))
        .routes(routes!(results::result_entries))
        .route("/v1/jobs/{job}/result/files/{*path}", get(results::result_file))
        .routes(routes!(pool::workers))
        .routes(routes!(pool::drain))
        .routes(routes!(pool::queues))
        .routes(routes!(pool::pause))
        .routes(routes!(pool::resume))
        .routes(routes!(pool::pool, pool::configure))
        .routes(routes!(pool::overview))
        .routes(routes!(explain::doctor))
        .routes(routes!(access::tokens, access::make_token))
        .routes(routes!(access::revoke_token))
        .routes(routes!(access::trail))
        .routes(routes!(login::login))
        .routes(routes!(login::logout))
        .routes(routes!(state::openapi))
        .routes(routes!(state::healthz))
        .routes(routes!(state::readyz))
        .routes(routes!(state::error_page))
}

/// Everything that is served.
pub(crate) fn router(desk: Arc<Desk>, extra: Router, (page, ears): (Option<ProblemPage>, Ears)) -> Router {
    let gate = Arc::clone(&desk.gate);
    let (api, _) = api().split_for_parts();
    api.with_state(desk)
        .merge(extra)
        .fallback(nowhere)
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(gate, enter))
        .layer(from_fn_with_state(page, for_people))
        .layer(from_fn(bounded))
        .layer(from_fn_with_state(ears, heard))
}

/// Shows a problem as a page to whoever asked for one.
async fn for_people(State(page): State<Option<ProblemPage>>, request: Request, next: Next) -> Response {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let wants_page = accepts.is_some_and(|accepts| accepts.contains("text/html"))
        && !request.uri().path().starts_with("/v1/");
    let response = next.run(request).await;
    match (page, response.extensions().get::<Told>()) {
        (Some(page), Some(Told(problem))) if wants_page => page(problem),
        _ => response,
    }
}

async fn nowhere(request: Request) -> Response {
    let shown: String = request.uri().path().chars().take(128).collect();
    Refused::new(Code::NotFound, format!("there is no path `{shown}`")).into_response()
}

async fn other_method(method: Method) -> Response {
    Refused::new(Code::Unsupported, format!("this path does not know the method {method}"))
        .status(StatusCode::METHOD_NOT_ALLOWED)
        .into_response()
}

/// Around everything: a handler that panics or hangs is a problem like others, and every answer has strict headers.
async fn bounded(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind();
    let mut response = match tokio::time::timeout(PATIENCE, answer).await {
        Ok(Ok(response)) => response,
        Ok(Err(panic)) => {
            tracing::error!(%method, path, panic = panic_text(panic.as_ref()), "a request met a fault of this program");
            Refused::new(Code::Damaged, "the request met a fault of the program itself; its log says more")
                .into_response()
        }
        Err(_) if method.is_safe() => {
            Refused::new(Code::Unavailable, "there was no answer within 60 seconds").into_response()
        }
        Err(_) => Refused::new(Code::Ambiguous, "there was no answer within 60 seconds").into_response(),
    };
    strict(&mut response);
    response
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text")
}

/// Headers that every answer has, unless it has its own.
fn strict(response: &mut Response) {
    const ALL: [(HeaderName, &str); 5] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let headers = response.headers_mut();
    for (name, value) in ALL {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
