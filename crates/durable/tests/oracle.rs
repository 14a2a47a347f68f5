//! The suite over the law itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use protocol::{Event, JobId, Timestamp};
use remora_durable::DurableRoom;
use remora_durable::conformance::Fixture;
use remora_durable::oracle::OracleRoom;

struct Oracle {
    room: Arc<OracleRoom>,
    clock: Arc<AtomicI64>,
}

#[async_trait]
impl Fixture for Oracle {
    fn room(&self) -> Arc<dyn DurableRoom> {
        Arc::clone(&self.room) as Arc<dyn DurableRoom>
    }

    fn advance(&self, ms: u64) {
        self.clock.fetch_add(i64::try_from(ms).expect("a small number"), Ordering::Relaxed);
    }

    fn events(&self) -> Option<Vec<Event>> {
        None
    }

    async fn damage(&self, job: JobId) {
        self.room.damage(job);
    }
}

fn fixture() -> Arc<dyn Fixture> {
    let clock = Arc::new(AtomicI64::new(1_790_000_000_000));
    let read = Arc::clone(&clock);
    let room = Arc::new(OracleRoom::new(Arc::new(move || Timestamp(read.load(Ordering::Relaxed)))));
    Arc::new(Oracle { room, clock })
}

remora_durable::durable_conformance!(crate::fixture());
