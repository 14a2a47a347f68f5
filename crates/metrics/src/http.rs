//! HTTP requests, by the template of their route.
//!
//! Promises: bounded, because a template is one of the OpenAPI document's paths or `(other)`, a method one of nine or `other`,
//! and of a status its class is told; whoever calls gives no other template.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::BUCKETS;

type Of<const N: usize> = [(&'static str, String); N];

#[derive(Clone)]
pub(crate) struct Requests {
    counts: Family<Of<3>, Counter>,
    durations: Family<Of<2>, Histogram, fn() -> Histogram>,
}

impl Requests {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let requests = Self {
            counts: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
        };
        registry.register(
            "http_requests",
            "HTTP requests that were answered, by route, method and class of status",
            requests.counts.clone(),
        );
        registry.register_with_unit(
            "http_request_duration",
            "How long the answer to an HTTP request took to begin, by route and method",
            Unit::Seconds,
            requests.durations.clone(),
        );
        requests
    }

    pub(crate) fn hear(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let (route, method) = (("route", route.to_owned()), ("method", method.to_owned()));
        let class = ("status", format!("{}xx", status / 100));
        self.counts.get_or_create(&[route.clone(), method.clone(), class]).inc();
        self.durations.get_or_create(&[route, method]).observe(took.as_secs_f64());
    }
}
