//! Traces of jobs by OpenTelemetry, over OTLP/HTTP.
//!
//! Promises: the trace id of a job is the job's id, and span ids follow from ids, so that every process adds to the same trace
//! without being told of it. Telling never waits and never fails whoever is told of; what cannot be exported is dropped and
//! counted; the end takes at most five seconds. `send` is told by whoever submits, `settle` by whoever records the verdict's
//! event, `process` once per attempt by whoever ended it. Does nothing unless `OTEL_EXPORTER_OTLP_ENDPOINT` or
//! `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` names a collector, and reads nothing from a store. docs/reference/traces.md lists
//! what is told; docs/decisions/0005 says why. The spec speaks of the actions whose events these are, not of traces.

mod attempts;
mod export;
pub mod ids;
mod names;
mod rooms;
mod sampler;
mod tracer;

use std::fmt;
use std::sync::Arc;

use durable::DurableRoom;
use opentelemetry_sdk::Resource;
use protocol::{AttemptId, Event, EventSink, JobId};

use attempts::Attempts;
use export::Exporter;
use rooms::Heard;
use tracer::Tracer;

pub use export::ExportError;
pub use rooms::Ear;
pub use sampler::Sampler;
pub use tracer::SETTLE;

/// The variables that switch traces on.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// The traces that a process tells.
#[derive(Clone)]
pub struct Traces(Arc<Tracer>);

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether the environment asks for traces.
#[must_use]
pub fn are_wanted() -> bool {
    let disabled = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let elsewhere = variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
    !disabled && !elsewhere && ENDPOINTS.iter().any(|name| variable(name).is_some())
}

/// Who tells: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`, else `service`.
fn resource(service: &'static str) -> Resource {
    let builder = || {
        Resource::builder()
            .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
    };
    let named = variable("OTEL_SERVICE_NAME").is_some()
        || variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| {
            all.split(',').any(|one| one.split('=').next().is_some_and(|name| name.trim() == "service.name"))
        });
    if named { builder().build() } else { builder().with_service_name(service).build() }
}

/// Where and how to tell.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The collector's URL for traces, such as `http://127.0.0.1:4318/v1/traces`; what the environment says when `None`.
    pub endpoint: Option<String>,
    /// The name where the environment gives none.
    pub service: &'static str,
    /// Which jobs.
    pub sampler: Sampler,
}

impl Traces {
    /// Starts telling, where the environment asks for it. `service` is the name where it gives none.
    ///
    /// # Errors
    /// When what it says cannot be done.
    pub fn begin(service: &'static str) -> Result<Option<Self>, ExportError> {
        if !are_wanted() {
            return Ok(None);
        }
        let (name, argument) = (variable("OTEL_TRACES_SAMPLER"), variable("OTEL_TRACES_SAMPLER_ARG"));
        let sampler = Sampler::of(name.as_deref(), argument.as_deref()).unwrap_or_else(|text| {
            tracing::warn!(error = text, "not a sampler; every job is traced");
            Sampler::ALL
        });
        Self::of(Settings { endpoint: None, service, sampler }).map(Some)
    }

    /// Starts telling.
    ///
    /// # Errors
    /// When the collector's URL is none, or the system refuses a thread.
    pub fn of(settings: Settings) -> Result<Self, ExportError> {
        let exporter = Exporter::start(&resource(settings.service), settings.endpoint)?;
        let sampler = settings.sampler;
        Ok(Self(Arc::new(Tracer { exporter, sampler, attempts: Attempts::default() })))
    }

    /// Events on their way to `to` are told of.
    #[must_use]
    pub fn telling(&self, to: Arc<dyn EventSink>) -> Arc<dyn EventSink> {
        Arc::new(Told { tracer: Arc::clone(&self.0), to })
    }

    /// The same room, whose answers are told of.
    #[must_use]
    pub fn over(&self, room: Arc<dyn DurableRoom>, ear: Ear) -> Arc<dyn DurableRoom> {
        Arc::new(Heard { room, tracer: Arc::clone(&self.0), ear })
    }

    /// An attempt was told to stop: `cancel`, `drain`, `timed_out` or `lease_lost`.
    pub fn stopped(&self, attempt: AttemptId, why: &'static str) {
        if self.0.attempts.is_lost(attempt) {
            return;
        }
        self.0.attempts.note(attempt, why, Vec::new());
        if why == "lease_lost" {
            self.0.attempts.lose(attempt);
        }
    }

    /// The worker is done with an attempt. One that has no verdict went on without authority to its end.
    pub fn left(&self, attempt: AttemptId) {
        let error = if self.0.attempts.is_lost(attempt) { "lease_lost" } else { "no_verdict" };
        self.0.fenced(attempt, error);
    }

    /// What a program finds in `TRACEPARENT`: its own spans join the job's trace, under its attempt.
    #[must_use]
    pub fn traceparent(&self, job: JobId, attempt: AttemptId) -> String {
        ids::traceparent(job, attempt, self.0.sampler.takes(job))
    }

    /// Spans that were dropped: the queue was full, or the collector took them not.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.exporter.dropped()
    }

    /// Exports what waits, for five seconds at most, and tells no more.
    pub fn finish(&self) {
        self.0.exporter.finish();
    }
}

/// Tells of what passes.
struct Told {
    tracer: Arc<Tracer>,
    to: Arc<dyn EventSink>,
}

impl EventSink for Told {
    fn record(&self, event: Event) {
        self.tracer.heard(&event);
        if self.to.is_on() {
            self.to.record(event);
        }
    }
}
