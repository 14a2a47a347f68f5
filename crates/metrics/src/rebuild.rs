//! How long the last opening of an epoch took, as far as this process saw it: from the request by which it raised the epoch
//! to the answer by which coordination was open (protocol rule 9).
//!
//! Does not count openings that another process raised and this one only helped.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// A rebuild asks something more often than this; a raise after a longer pause begins another one.
const PAUSE: Duration = Duration::from_secs(10);

/// A rebuild under way.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    since: Instant,
    last: Instant,
}

#[derive(Debug)]
pub(crate) struct Rebuild {
    under_way: Mutex<Option<UnderWay>>,
    seconds: Gauge<f64, AtomicU64>,
}

impl Rebuild {
    pub(crate) fn register(registry: &mut Registry) -> Arc<Self> {
        let seconds = Gauge::default();
        registry.register_with_unit(
            "rebuild",
            "How long the last opening of an epoch took that this process raised; 0 before the first",
            Unit::Seconds,
            seconds.clone(),
        );
        Arc::new(Self { under_way: Mutex::new(None), seconds })
    }

    /// A request to a room was answered, or not.
    pub(crate) fn hear(&self, room: &str, action: &str, took: Duration, answered: bool) {
        match (room, action) {
            ("durable", "raise_epoch" | "open_epoch")
            | ("coordination", "install_epoch" | "account" | "open_epoch") => {}
            _ => return,
        }
        let now = Instant::now();
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        *under_way = under_way.filter(|known| now.duration_since(known.last) < PAUSE);
        if action == "raise_epoch" {
            let since = under_way.map_or(now.checked_sub(took).unwrap_or(now), |known| known.since);
            *under_way = Some(UnderWay { since, last: now });
        } else if let Some(known) = under_way.as_mut() {
            known.last = now;
        }
        if room == "coordination"
            && action == "open_epoch"
            && answered
            && let Some(known) = under_way.take()
        {
            self.seconds.set(now.duration_since(known.since).as_secs_f64());
        }
    }
}
