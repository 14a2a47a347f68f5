//! SQLite, as the suite's fixture.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use protocol::{Event, EventSink, JobId, Timestamp};
use remora_durable::DurableRoom;
use remora_durable::conformance::Fixture;
use remora_durable::sqlite::{Options, SqliteRoom, damage};
use tempfile::TempDir;

#[derive(Default)]
struct Trace(Mutex<Vec<Event>>);

impl EventSink for Trace {
    fn record(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

struct Sqlite {
    room: Arc<SqliteRoom>,
    path: PathBuf,
    clock: Arc<AtomicI64>,
    trace: Arc<Trace>,
    _folder: TempDir,
}

#[async_trait]
impl Fixture for Sqlite {
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
        damage(&self.path, job);
    }
}

pub(crate) fn sqlite() -> Arc<dyn Fixture> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("remora.db");
    let clock = Arc::new(AtomicI64::new(1_790_000_000_000));
    let trace = Arc::new(Trace::default());
    let read = Arc::clone(&clock);
    let options = Options {
        sink: Arc::clone(&trace) as Arc<dyn EventSink>,
        time: Arc::new(move || Timestamp(read.load(Ordering::Relaxed))),
        ..Options::default()
    };
    let room = Arc::new(SqliteRoom::open(&path, options).unwrap());
    Arc::new(Sqlite { room, path, clock, trace, _folder: folder })
}
