//! Random walks of SQLite beside the law.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod stores;

use std::sync::Arc;

use remora_durable::conformance::Fixture;
use remora_durable::conformance::walk::{Adapter, WALKS, beside_the_law};

struct Sqlite;

impl Adapter for Sqlite {
    fn fresh() -> Arc<dyn Fixture> {
        stores::sqlite()
    }
}

#[test]
fn sqlite_answers_every_step_of_a_walk_as_the_law_does() {
    beside_the_law::<Sqlite>(WALKS);
}
