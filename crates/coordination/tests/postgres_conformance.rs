//! The room on PostgreSQL against the suite that every adapter must pass: with statements prepared, and sent whole each
//! time as behind a pooler; and beside the law.
#![cfg(all(feature = "postgres", feature = "walks"))]

#[path = "stores/postgres.rs"]
mod store;

use async_trait::async_trait;
use remora_coordination::conformance::Fixture;
use remora_coordination::conformance::walk::{Adapter, WALKS, beside_the_law};

async fn fresh() -> store::Postgres {
    store::at(&format!("{}&statements=named", store::fresh_url())).await
}

remora_coordination::conformance!(fresh);

mod sent_whole {
    async fn fresh() -> super::store::Postgres {
        super::store::at(&format!("{}&statements=unnamed", super::store::fresh_url())).await
    }

    remora_coordination::conformance!(fresh);
}

struct OnPostgres;

#[async_trait]
impl Adapter for OnPostgres {
    async fn fresh() -> Box<dyn Fixture> {
        Box::new(fresh().await)
    }
}

#[test]
fn the_room_on_postgresql_answers_every_step_of_a_walk_as_the_law_does() {
    beside_the_law::<OnPostgres>(WALKS);
}
