//! Random walks of PostgreSQL beside the law.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod servers;

use std::sync::Arc;

use remora_durable::conformance::Fixture;
use remora_durable::conformance::walk::{Adapter, WALKS, beside_the_law};

struct Named;

impl Adapter for Named {
    fn fresh() -> Arc<dyn Fixture> {
        servers::postgres(servers::fresh_url() + "&statements=named")
    }
}

#[test]
fn postgres_answers_every_step_of_a_walk_as_the_law_does() {
    beside_the_law::<Named>(WALKS);
}
