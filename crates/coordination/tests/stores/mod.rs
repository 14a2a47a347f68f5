//! The embedded room, as the suite's fixture.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use remora_coordination::CoordinationRoom;
use remora_coordination::conformance::Fixture;
use remora_coordination::memory::{MemoryRoom, Options};

pub(crate) struct Memory {
    room: Arc<MemoryRoom>,
    clock_ms: Arc<AtomicU64>,
}

pub(crate) async fn memory() -> Memory {
    let clock_ms = Arc::new(AtomicU64::new(1_000_000));
    let clock = Arc::clone(&clock_ms);
    let options = Options {
        clock: Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst))),
        ..Options::default()
    };
    Memory { room: Arc::new(MemoryRoom::new(options)), clock_ms }
}

#[async_trait]
impl Fixture for Memory {
    fn room(&self) -> Arc<dyn CoordinationRoom> {
        self.room.clone()
    }

    async fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).expect("a small number");
        self.clock_ms.fetch_add(ms, Ordering::SeqCst);
    }

    async fn lose(&self) {
        self.room.lose();
    }
}
