//! The durable room through the wire must answer as it does without.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use coordination::memory::MemoryRoom;
use durable::DurableRoom;
use durable::conformance::Fixture;
use durable::sqlite::{Options, SqliteRoom, damage};
use protocol::{Event, EventSink, JobId, Timestamp};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::fake::Echo;
use crate::client::{ClientOptions, DurableClient};
use crate::server::{Listener, Rooms, ServerHandle, ServerOptions, serve};

const DATABASE: &str = "remora.db";

/// Where servers and clients live; each case has a runtime of its own.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

#[derive(Default)]
struct Trace(Mutex<Vec<Event>>);

impl EventSink for Trace {
    fn record(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

struct Wired {
    client: Arc<DurableClient>,
    clock: Arc<AtomicI64>,
    trace: Arc<Trace>,
    _server: ServerHandle,
    folder: TempDir,
}

#[async_trait]
impl Fixture for Wired {
    fn room(&self) -> Arc<dyn DurableRoom> {
        self.client.clone()
    }

    fn advance(&self, ms: u64) {
        self.clock.fetch_add(i64::try_from(ms).unwrap(), Ordering::Relaxed);
    }

    fn events(&self) -> Option<Vec<Event>> {
        Some(self.trace.0.lock().unwrap().clone())
    }

    async fn damage(&self, job: JobId) {
        damage(&self.folder.path().join(DATABASE), job);
    }
}

pub(super) fn fixture() -> Arc<dyn Fixture> {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(AtomicI64::new(1_790_000_000_000));
    let trace = Arc::new(Trace::default());
    let read = Arc::clone(&clock);
    let options = Options {
        sink: trace.clone(),
        time: Arc::new(move || Timestamp(read.load(Ordering::Relaxed))),
        ..Options::default()
    };
    let rooms = Rooms {
        durable: Arc::new(SqliteRoom::open(folder.path().join(DATABASE), options).unwrap()),
        coordination: Arc::new(MemoryRoom::default()),
        control: Arc::new(Echo),
    };
    let (server, client) = RUNTIME.block_on(async {
        let server = serve(Listener::bind(folder.path()).unwrap(), rooms, ServerOptions::default());
        (server, DurableClient::connect(ClientOptions::new(folder.path(), "suite")).await.unwrap())
    });
    Arc::new(Wired { client: Arc::new(client), clock, trace, _server: server, folder })
}

durable::durable_conformance!(crate::tests::durable_room::fixture());
