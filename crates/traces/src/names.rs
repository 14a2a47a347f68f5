//! The names of spans and attributes, and how a span is made of them. docs/reference/traces.md lists them all.

use std::borrow::Cow;
use std::time::SystemTime;

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use protocol::{AttemptId, JobId, Token};

use crate::ids;

pub(crate) const SYSTEM: &str = "messaging.system";
pub(crate) const OPERATION: &str = "messaging.operation.name";
pub(crate) const OPERATION_TYPE: &str = "messaging.operation.type";
pub(crate) const DESTINATION: &str = "messaging.destination.name";
pub(crate) const MESSAGE: &str = "messaging.message.id";
pub(crate) const CLIENT: &str = "messaging.client.id";
pub(crate) const ERROR: &str = "error.type";
pub(crate) const KIND: &str = "remora.job.kind";
pub(crate) const ATTEMPT: &str = "remora.job.attempt";
pub(crate) const FENCE: &str = "remora.job.fence";
pub(crate) const OUTCOME: &str = "remora.job.outcome";
pub(crate) const ATTEMPT_ID: &str = "remora.attempt.id";
pub(crate) const PROGRESS: &str = "remora.checkpoint.progress";

/// What is told of a job, in the making.
pub(crate) struct Telling {
    pub(crate) job: JobId,
    pub(crate) id: SpanId,
    pub(crate) parent: SpanId,
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: SpanKind,
    pub(crate) since: SystemTime,
    pub(crate) attributes: Vec<KeyValue>,
}

impl Telling {
    /// `operation` and its type of the messaging conventions, on a job.
    pub(crate) fn new(job: JobId, id: SpanId, operation: &'static str, of_type: &'static str) -> Self {
        let attributes = vec![
            KeyValue::new(SYSTEM, "remora"),
            KeyValue::new(OPERATION, operation),
            KeyValue::new(OPERATION_TYPE, of_type),
            KeyValue::new(MESSAGE, job.to_string()),
        ];
        Self {
            job,
            id,
            parent: SpanId::INVALID,
            name: of_type.into(),
            kind: SpanKind::Internal,
            since: SystemTime::now(),
            attributes,
        }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<opentelemetry::Value>) -> Self {
        self.attributes.push(KeyValue::new(name, value));
        self
    }

    /// Its queue and kind: what it is called by, and two attributes.
    pub(crate) fn placed(mut self, queue: &str, kind: &str) -> Self {
        self.name = format!("{} {queue}", self.name).into();
        self.with(DESTINATION, queue.to_owned()).with(KIND, kind.to_owned())
    }

    pub(crate) fn attempt(self, attempt: AttemptId, token: Option<Token>) -> Self {
        let told = self.with(ATTEMPT_ID, attempt.to_string());
        let Some(token) = token else { return told };
        told.with(ATTEMPT, i64::from(token.0)).with(FENCE, i64::from(token.0))
    }

    /// Ends now. `error`: what it failed of.
    pub(crate) fn end(mut self, error: Option<&'static str>) -> SpanData {
        if let Some(error) = error {
            self.attributes.push(KeyValue::new(ERROR, error));
        }
        SpanData {
            span_context: context(self.job, self.id),
            parent_span_id: self.parent,
            parent_span_is_remote: self.parent != SpanId::INVALID,
            span_kind: self.kind,
            name: self.name,
            start_time: self.since,
            end_time: SystemTime::now().max(self.since),
            attributes: self.attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: error.map_or(Status::Unset, Status::error),
            instrumentation_scope: InstrumentationScope::builder("remora")
                .with_version(env!("CARGO_PKG_VERSION"))
                .build(),
        }
    }
}

/// A span of a job's trace, for others to name.
pub(crate) fn context(job: JobId, span: SpanId) -> SpanContext {
    SpanContext::new(ids::trace(job), span, TraceFlags::SAMPLED, true, TraceState::default())
}
