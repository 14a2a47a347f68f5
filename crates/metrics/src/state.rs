//! How the installation is, asked of the port.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use api::Api;
use api::v1::{Overview, Queue};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use protocol::Phase;

use crate::{Of, PREFIX};

/// Queues that are told by name.
const QUEUES: usize = 100;
/// What the others are told as, together. No queue can be called so: round brackets are not allowed in names.
const OTHERS: &str = "(other)";
/// How long the rooms may take.
const BOUND: Duration = Duration::from_secs(5);

/// Stages that are not swept yet, as far as they are counted; `None` where the room gives no answer.
pub type Answer = Pin<Box<dyn Future<Output = Option<usize>> + Send>>;
/// Asks for them.
pub type Owed = Arc<dyn Fn() -> Answer + Send + Sync>;

type Seconds = Gauge<f64, AtomicU64>;

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// What is known at this moment. A room that gives no answer is told as down, and its numbers are left out.
pub(crate) async fn registry(api: &dyn Api, owed: Option<Owed>) -> Registry {
    let stages = async {
        match owed {
            Some(owed) => owed().await,
            None => None,
        }
    };
    let asked = async { tokio::join!(api.overview(), api.queues(), stages) };
    let (overview, queues, stages) = match tokio::time::timeout(BOUND, asked).await {
        Ok((overview, queues, stages)) => (overview.ok(), queues.ok(), stages),
        Err(_) => (None, None, None),
    };
    let mut registry = Registry::with_prefix(PREFIX);
    let coordination = overview.as_ref().is_some_and(|overview| overview.workers.is_some());
    let up: Family<Of<1>, Gauge> = Family::default();
    up.get_or_create(&[("room", "durable")]).set(i64::from(overview.is_some()));
    up.get_or_create(&[("room", "coordination")]).set(i64::from(coordination));
    registry.register("room_up", "Whether the room answered just now", up);
    if let Some(overview) = &overview {
        jobs(&mut registry, overview);
        places(&mut registry, overview);
    }
    if let Some(stages) = stages {
        let gauge = Gauge::<i64>::default();
        gauge.set(i64::try_from(stages).unwrap_or(i64::MAX));
        registry.register(
            "stages_owed",
            "Ended attempts whose stage is not swept yet; 100 means as many or more",
            gauge,
        );
    }
    if let Some(queues) = queues {
        by_queue(&mut registry, queues);
    }
    registry
}

fn jobs(registry: &mut Registry, overview: &Overview) {
    let jobs: Family<Of<1>, Gauge> = Family::default();
    for (phase, count) in &overview.jobs {
        jobs.get_or_create(&[("phase", phase.name())]).set(whole(*count));
    }
    registry.register("jobs", "Jobs by phase", jobs);
    let waiting = Seconds::default();
    let oldest = overview.oldest_waiting.as_ref();
    let ms = oldest.map_or(0, |job| overview.at.0.since_ms(job.due_at.0));
    waiting.set(Duration::from_millis(ms).as_secs_f64());
    registry.register_with_unit(
        "oldest_waiting",
        "How long the due job that waits longest has waited; this is how far the outbox is behind",
        Unit::Seconds,
        waiting,
    );
}

fn places(registry: &mut Registry, overview: &Overview) {
    let pool = &overview.pool;
    let mut gauge = |name: &str, help: &str, value: Option<u64>| {
        if let Some(value) = value {
            let gauge = Gauge::<i64>::default();
            gauge.set(whole(value));
            registry.register(name, help, gauge);
        }
    };
    gauge("places_limit", "Places in the pool", Some(pool.global.into()));
    gauge("workers", "Workers that are registered", overview.workers);
    gauge("worker_slots", "Their slots", overview.slots);
    gauge("epoch", "The pool's epoch in the durable store", Some(pool.epoch));
    gauge("epoch_open", "1, or 0 while coordination is being rebuilt", Some(pool.open.into()));
    gauge("queues_paused", "Queues that are paused", u64::try_from(pool.paused.len()).ok());
    let used: Family<Of<1>, Gauge> = Family::default();
    let parts =
        [("lease", pool.leases), ("reservation", pool.reservations), ("unaccounted", pool.unaccounted)];
    for (by, count) in parts {
        if let Some(count) = count {
            used.get_or_create(&[("by", by)]).set(whole(count));
        }
    }
    registry.register("places_used", "Places in use, by what uses them", used);
}

/// Unfinished jobs of the queues that have most of them; the rest together.
fn by_queue(registry: &mut Registry, mut queues: Vec<Queue>) {
    let unfinished = |queue: &Queue| -> u64 {
        queue.jobs.iter().filter(|(phase, _)| !phase.is_terminal()).map(|(_, count)| count).sum()
    };
    queues.sort_by(|one, other| {
        unfinished(other).cmp(&unfinished(one)).then_with(|| one.queue.cmp(&other.queue))
    });
    let mut counts: BTreeMap<(String, Phase), u64> = BTreeMap::new();
    for (place, queue) in queues.into_iter().enumerate() {
        let name = if place < QUEUES { queue.queue } else { OTHERS.to_owned() };
        for (phase, count) in queue.jobs.into_iter().filter(|(phase, _)| !phase.is_terminal()) {
            *counts.entry((name.clone(), phase)).or_default() += count;
        }
    }
    let jobs: Family<[(&'static str, String); 2], Gauge> = Family::default();
    for ((queue, phase), count) in counts {
        jobs.get_or_create(&[("queue", queue), ("phase", phase.name().to_owned())]).set(whole(count));
    }
    registry.register("queue_jobs", "Unfinished jobs by queue and phase, of a hundred queues at most", jobs);
}
