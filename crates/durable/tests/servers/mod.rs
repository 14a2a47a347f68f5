//! PostgreSQL, as the suite's fixture: a schema of its own in a server that tests share.

mod url;

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use protocol::{Event, EventSink, JobId, Timestamp};
use remora_durable::DurableRoom;
use remora_durable::conformance::Fixture;
use remora_durable::postgres::migrate::{self, Setup};
use remora_durable::postgres::{Options, PostgresRoom, damage};
use tokio::runtime::{Builder, Runtime};

pub(crate) use url::fresh_url;

/// What connections live on that are opened before a case has a runtime.
pub(crate) static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

#[derive(Default)]
struct Trace(Mutex<Vec<Event>>);

impl EventSink for Trace {
    fn record(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

struct Postgres {
    room: Arc<PostgresRoom>,
    url: String,
    clock: Arc<AtomicI64>,
    trace: Arc<Trace>,
}

#[async_trait]
impl Fixture for Postgres {
    fn room(&self) -> Arc<dyn DurableRoom> {
        Arc::clone(&self.room) as Arc<dyn DurableRoom>
    }

    fn advance(&self, ms: u64) {
        self.clock.fetch_add(i64::try_from(ms).unwrap(), Ordering::Relaxed);
    }

    fn events(&self) -> Option<Vec<Event>> {
        Some(self.trace.0.lock().unwrap().clone())
    }

    async fn damage(&self, job: JobId) {
        damage(&self.url, job).await;
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let url = self.url.clone();
        // In a thread of its own: the case's runtime may be the one that drops.
        let gone = std::thread::spawn(move || RUNTIME.block_on(migrate::down(&url)));
        drop(gone.join());
    }
}

/// A fresh room with a clock of its own. The URL may say more.
pub(crate) fn postgres(url: String) -> Arc<dyn Fixture> {
    let clock = Arc::new(AtomicI64::new(1_790_000_000_000));
    let trace = Arc::new(Trace::default());
    let read = Arc::clone(&clock);
    let options = Options {
        sink: Arc::clone(&trace) as Arc<dyn EventSink>,
        time: Some(Arc::new(move || Timestamp(read.load(Ordering::Relaxed)))),
        ..Options::default()
    };
    let room = RUNTIME.block_on(async {
        migrate::up(&url, &Setup::default()).await.unwrap();
        PostgresRoom::open(&url, options).await.unwrap()
    });
    Arc::new(Postgres { room: Arc::new(room), url, clock, trace })
}
