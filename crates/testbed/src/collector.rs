//! A collector of traces: takes OTLP over HTTP and keeps what it was told.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use prost::Message as _;

pub use opentelemetry_proto::tonic::trace::v1::Span;

/// Spans, each with the name of the service that told it.
type Got = Arc<Mutex<Vec<(String, Span)>>>;

/// A collector, on a thread that lives as long as the test's process.
pub struct Collector {
    address: SocketAddr,
    got: Got,
}

/// Attributes as texts.
#[must_use]
pub fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |one: &KeyValue| match one.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    };
    attributes.iter().map(|one| (one.key.clone(), text(one))).collect()
}

/// An id as hexadecimal digits.
#[must_use]
pub fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Collector {
    /// Starts one.
    ///
    /// # Errors
    /// When there is no port or no thread for it.
    pub fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let got = Got::default();
        let kept = Arc::clone(&got);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("collector".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                let take = move |body: Bytes| std::future::ready(take(&kept, body));
                axum::serve(listener, Router::new().route("/v1/traces", post(take))).await
            })
        })?;
        Ok(Self { address, got })
    }

    /// What `OTEL_EXPORTER_OTLP_ENDPOINT` is to say.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was told so far, each span with the name of the service that told it.
    #[must_use]
    pub fn spans(&self) -> Vec<(String, Span)> {
        self.got.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn take(kept: &Got, body: Bytes) -> StatusCode {
    let Ok(request) = ExportTraceServiceRequest::decode(body) else { return StatusCode::BAD_REQUEST };
    for of in request.resource_spans {
        let attributes = of.resource.map(|resource| texts(&resource.attributes)).unwrap_or_default();
        let service = attributes.get("service.name").cloned().unwrap_or_default();
        let spans = of.scope_spans.into_iter().flat_map(|scope| scope.spans);
        let spans = spans.map(|span| (service.clone(), span));
        kept.lock().unwrap_or_else(PoisonError::into_inner).extend(spans);
    }
    StatusCode::OK
}
