//! The law itself against the suite that every adapter must pass.
#![cfg(all(feature = "oracle", feature = "conformance"))]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use remora_coordination::CoordinationRoom;
use remora_coordination::conformance::Fixture;
use remora_coordination::oracle::OracleRoom;

struct Oracle {
    room: Arc<OracleRoom>,
    clock_ms: Arc<AtomicU64>,
}

async fn fresh() -> Oracle {
    let clock_ms = Arc::new(AtomicU64::new(1_000_000));
    let clock = Arc::clone(&clock_ms);
    let clock = Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst)));
    Oracle { room: Arc::new(OracleRoom::new(clock)), clock_ms }
}

#[async_trait]
impl Fixture for Oracle {
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

remora_coordination::conformance!(fresh);
