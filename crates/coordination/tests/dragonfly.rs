//! The room on Debian's `redis-server` against the suite that every adapter must pass, and beside the law.
#![cfg(all(feature = "dragonfly", feature = "walks"))]

#[path = "stores/dragonfly.rs"]
mod store;

use async_trait::async_trait;
use remora_coordination::conformance::Fixture;
use remora_coordination::conformance::walk::{Adapter, WALKS, beside_the_law};

async fn fresh() -> store::Dragonfly {
    store::on(&testbed::redis::shared()).await
}

remora_coordination::conformance!(fresh);

struct OnRedis;

#[async_trait]
impl Adapter for OnRedis {
    async fn fresh() -> Box<dyn Fixture> {
        Box::new(fresh().await)
    }
}

#[test]
fn the_room_on_redis_answers_every_step_of_a_walk_as_the_law_does() {
    beside_the_law::<OnRedis>(WALKS);
}
