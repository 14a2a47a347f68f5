//! A collector for tests: takes OTLP over HTTP and keeps what it was told.
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// A collector and all that it got.
pub struct Receiver {
    pub address: SocketAddr,
    got: Arc<Mutex<Vec<(String, Span)>>>,
}

/// Attributes as texts.
pub fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |one: &KeyValue| match one.value.as_ref().unwrap().value.as_ref().unwrap() {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    attributes.iter().map(|one| (one.key.clone(), text(one))).collect()
}

impl Receiver {
    pub async fn start() -> Self {
        let got: Arc<Mutex<Vec<(String, Span)>>> = Arc::default();
        let keep = Arc::clone(&got);
        let take = move |body: Bytes| {
            let keep = Arc::clone(&keep);
            async move {
                let request = ExportTraceServiceRequest::decode(body).unwrap();
                for of in request.resource_spans {
                    let service = texts(&of.resource.unwrap().attributes)["service.name"].clone();
                    let spans = of.scope_spans.into_iter().flat_map(|scope| scope.spans);
                    keep.lock().unwrap().extend(spans.map(|span| (service.clone(), span)));
                }
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = Router::new().route("/v1/traces", post(take));
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, got }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1/traces", self.address)
    }

    /// Spans with who told them.
    pub fn spans(&self) -> Vec<(String, Span)> {
        self.got.lock().unwrap().clone()
    }
}
