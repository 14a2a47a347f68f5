//! The coordination room through the wire must answer as it does without.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use coordination::conformance::Fixture;
use coordination::conformance::walk::{Adapter, beside_the_law};
use coordination::memory::{MemoryRoom, Options};
use coordination::{CoordinationReads, CoordinationRoom};

use super::fake::Owner;
use crate::client::CoordinationClient;
use crate::server::ServerOptions;

struct Wired {
    clock_ms: Arc<AtomicU64>,
    client: Arc<CoordinationClient>,
    owner: Owner,
}

async fn fresh() -> Wired {
    let clock_ms = Arc::new(AtomicU64::new(1_000_000));
    let clock = Arc::clone(&clock_ms);
    let options = Options {
        clock: Arc::new(move || Duration::from_millis(clock.load(Ordering::SeqCst))),
        ..Options::default()
    };
    let mut owner = Owner::of(MemoryRoom::new(options));
    owner.serve(ServerOptions::default());
    let client = Arc::new(owner.coordination().await);
    // The owner subscribes to wake-ups before it reads requests, so an answer shows that they are passed on.
    client.pool().await.unwrap();
    Wired { clock_ms, client, owner }
}

#[async_trait]
impl Fixture for Wired {
    fn room(&self) -> Arc<dyn CoordinationRoom> {
        self.client.clone()
    }

    async fn advance(&self, by: Duration) {
        let ms = u64::try_from(by.as_millis()).unwrap();
        self.clock_ms.fetch_add(ms, Ordering::SeqCst);
    }

    async fn lose(&self) {
        self.owner.coordination.lose();
    }
}

coordination::conformance!(fresh);

struct Walking;

#[async_trait]
impl Adapter for Walking {
    async fn fresh() -> Box<dyn Fixture> {
        Box::new(fresh().await)
    }
}

#[test]
fn the_room_answers_every_step_of_a_walk_through_the_wire_as_the_law_does() {
    beside_the_law::<Walking>(4);
}
