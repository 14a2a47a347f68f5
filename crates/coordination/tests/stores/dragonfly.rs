//! The room on a server, as the suite's fixture: a pool of its own on a server that all share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use remora_coordination::CoordinationRoom;
use remora_coordination::conformance::Fixture;
use remora_coordination::dragonfly::{DragonflyRoom, Options};

pub(crate) struct Dragonfly {
    room: Arc<DragonflyRoom>,
    clock_ms: Arc<AtomicU64>,
}

/// A name that no other pool has.
pub(crate) fn fresh_pool() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    format!("t{}-{}-{}", std::process::id(), since.as_micros(), COUNT.fetch_add(1, Ordering::SeqCst))
}

/// A fresh pool on the server of a URL without parameters.
pub(crate) async fn on(url: &str) -> Dragonfly {
    let clock_ms = Arc::new(AtomicU64::new(1_000_000));
    let clock = Arc::clone(&clock_ms);
    let options = Options {
        clock: Some(Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst)))),
        ..Options::default()
    };
    let joint = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{joint}installation=remora-test&pool={}", fresh_pool());
    Dragonfly { room: Arc::new(DragonflyRoom::open(&url, options).await.expect("a url")), clock_ms }
}

#[async_trait]
impl Fixture for Dragonfly {
    fn room(&self) -> Arc<dyn CoordinationRoom> {
        self.room.clone()
    }

    async fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).expect("a small number");
        self.clock_ms.fetch_add(ms, Ordering::SeqCst);
    }

    async fn lose(&self) {
        self.room.lose().await.expect("an answer");
    }
}
