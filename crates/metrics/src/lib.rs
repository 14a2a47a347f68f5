//! Remora in numbers, for Prometheus and whoever reads OpenMetrics.
//!
//! Promises: the number of series is bounded by fixed sets, stated in docs/reference/metrics.md: never a job, a worker or an
//! incarnation is a label, and of queues at most a hundred. Counts of actions are counted from the events that rooms and
//! actors record, under the names of the spec; gauges are read from the port when somebody asks. Counting neither waits nor
//! fails. Does not sum over processes: each tells of itself, and of the installation where it can ask.

mod counted;
mod dropped;
mod http;
mod process;
mod rebuild;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use api::Api;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use protocol::EventSink;

use counted::{Counted, Counters};
use dropped::Dropped;
use http::Requests;
use rebuild::Rebuild;
pub use state::{Answer, Owed};

/// What every name begins with.
const PREFIX: &str = "remora";
/// What is told is of this type.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Upper ends of the histograms' buckets, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

type Of<const N: usize> = [(&'static str, &'static str); N];
type Durations = Family<Of<2>, Histogram, fn() -> Histogram>;

/// Hears how long a room took: room, action, time, and whether it answered.
pub type Timer = Arc<dyn Fn(&'static str, &'static str, Duration, bool) + Send + Sync>;
/// Hears of an answered HTTP request: the route's template, method, status, time.
pub type HttpTimer = Arc<dyn Fn(&str, &'static str, u16, Duration) + Send + Sync>;

/// What a process has counted.
pub struct Metrics {
    registry: Mutex<Registry>,
    counters: Arc<Counters>,
    requests: Durations,
    http: Requests,
    rebuild: Arc<Rebuild>,
    events_dropped: Arc<Dropped>,
    spans_dropped: Arc<Dropped>,
    owed: Mutex<Option<Owed>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix(PREFIX);
        let counters = Arc::new(Counters::register(&mut registry));
        let requests = Durations::new_with_constructor(|| Histogram::new(BUCKETS));
        registry.register_with_unit(
            "room_request_duration",
            "How long a room took to answer a request, by room and action; repeats and faults included",
            Unit::Seconds,
            requests.clone(),
        );
        let http = Requests::register(&mut registry);
        let rebuild = Rebuild::register(&mut registry);
        let events_dropped = Dropped::register(
            &mut registry,
            "events_dropped",
            "Recorded events that were not written, because the disk was full or slow",
        );
        let spans_dropped = Dropped::register(
            &mut registry,
            "spans_dropped",
            "Spans that were not exported: too many waited, or the collector took them not",
        );
        process::register(&mut registry);
        let registry = Mutex::new(registry);
        let owed = Mutex::default();
        Self { registry, counters, requests, http, rebuild, events_dropped, spans_dropped, owed }
    }
}

impl Metrics {
    /// Nothing is counted yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Counts events on their way to where they went.
    #[must_use]
    pub fn counting(&self, to: Arc<dyn EventSink>) -> Arc<dyn EventSink> {
        Arc::new(Counted { counters: Arc::clone(&self.counters), to })
    }

    /// What measures the rooms' requests.
    #[must_use]
    pub fn timer(&self) -> Timer {
        let (requests, rebuild) = (self.requests.clone(), Arc::clone(&self.rebuild));
        Arc::new(move |room, action, took, answered| {
            requests.get_or_create(&[("room", room), ("action", action)]).observe(took.as_secs_f64());
            rebuild.hear(room, action, took, answered);
        })
    }

    /// What counts and measures answered HTTP requests.
    #[must_use]
    pub fn http(&self) -> HttpTimer {
        let requests = self.http.clone();
        Arc::new(move |route, method, status, took| requests.hear(route, method, status, took))
    }

    /// Where to ask for the number of events that were not recorded.
    pub fn events_dropped(&self, ask: impl Fn() -> u64 + Send + Sync + 'static) {
        self.events_dropped.ask(ask);
    }

    /// Where to ask for the number of spans that were not exported.
    pub fn spans_dropped(&self, ask: impl Fn() -> u64 + Send + Sync + 'static) {
        self.spans_dropped.ask(ask);
    }

    /// Where to ask for stages that are not swept yet. It is asked when somebody scrapes.
    pub fn stages_owed(&self, ask: impl Fn() -> Answer + Send + Sync + 'static) {
        *self.owed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(ask));
    }

    /// What this process has counted, and what `api` tells of the installation where it is given.
    ///
    /// # Errors
    /// Never, unless there is no memory for it.
    pub async fn scrape(&self, api: Option<&dyn Api>) -> Result<String, fmt::Error> {
        let state = match api {
            Some(api) => {
                let owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner).clone();
                Some(state::registry(api, owed).await)
            }
            None => None,
        };
        let mut text = String::new();
        encode_registry(&mut text, &self.registry.lock().unwrap_or_else(PoisonError::into_inner))?;
        if let Some(state) = state {
            encode_registry(&mut text, &state)?;
        }
        encode_eof(&mut text)?;
        Ok(text)
    }
}

/// `GET /metrics`. One question at a time is asked of the rooms, however many scrape.
pub fn router(api: Arc<dyn Api>, metrics: Arc<Metrics>) -> Router {
    let turn = Arc::new(tokio::sync::Mutex::new(()));
    let told = move || {
        let (api, metrics, turn) = (Arc::clone(&api), Arc::clone(&metrics), Arc::clone(&turn));
        async move {
            let _turn = turn.lock().await;
            answer(metrics.scrape(Some(api.as_ref())).await)
        }
    };
    Router::new().route("/metrics", get(told))
}

fn answer(text: Result<String, fmt::Error>) -> Response {
    match text {
        Ok(text) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The type of what [`Metrics::scrape`] gives.
#[must_use]
pub fn content_type() -> &'static str {
    OPEN_METRICS
}
