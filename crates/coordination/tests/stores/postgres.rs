//! The room on PostgreSQL, as the suite's fixture: a pool of its own in one schema of a server that all share.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use remora_coordination::CoordinationRoom;
use remora_coordination::conformance::Fixture;
use remora_coordination::postgres::{Options, PostgresRoom};

pub(crate) struct Postgres {
    room: Arc<PostgresRoom>,
    clock_ms: Arc<AtomicU64>,
}

/// The URL of a pool that nobody else uses, on the shared server.
pub(crate) fn fresh_url() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let number = COUNT.fetch_add(1, Ordering::SeqCst);
    let pool = format!("t{}-{}-{number}", std::process::id(), since.as_micros());
    let server = testbed::postgres::shared();
    format!("{server}?sslmode=disable&connections=4&schema=coordination_tests&pool={pool}")
}

/// A fresh pool with a clock of its own. The URL may say more.
pub(crate) async fn at(url: &str) -> Postgres {
    let clock_ms = Arc::new(AtomicU64::new(1_000_000));
    let clock = Arc::clone(&clock_ms);
    let options = Options {
        clock: Some(Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst)))),
        ..Options::default()
    };
    Postgres { room: Arc::new(PostgresRoom::open(url, options).await.expect("a server")), clock_ms }
}

#[async_trait]
impl Fixture for Postgres {
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
