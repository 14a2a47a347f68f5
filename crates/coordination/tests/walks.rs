//! Random walks of the embedded room beside the law.

mod stores;

use async_trait::async_trait;
use remora_coordination::conformance::Fixture;
use remora_coordination::conformance::walk::{Adapter, WALKS, beside_the_law};

struct Memory;

#[async_trait]
impl Adapter for Memory {
    async fn fresh() -> Box<dyn Fixture> {
        Box::new(stores::memory().await)
    }
}

#[test]
fn the_embedded_room_answers_every_step_of_a_walk_as_the_law_does() {
    beside_the_law::<Memory>(WALKS);
}
