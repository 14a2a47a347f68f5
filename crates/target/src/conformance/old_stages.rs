//! Stages that nothing was written to for long.

use std::collections::BTreeSet;
use std::time::Duration;

use super::world::{World, entry, manifest};
use crate::StageId;

const DAY: Duration = Duration::from_secs(86_400);

async fn old(world: &World) -> BTreeSet<StageId> {
    let found = world.target.old_stages(DAY).await.unwrap();
    let count = found.len();
    let found: BTreeSet<_> = found.into_iter().collect();
    assert_eq!(found.len(), count, "each once");
    found
}

pub async fn an_empty_room_has_none(world: World) {
    assert!(old(&world).await.is_empty());
}

pub async fn a_stage_is_old_when_its_last_writing_is(world: World) {
    let stage = world.stage();
    let (next, stranger) = (world.next_stage(&stage), world.stage());
    for stage in [&stage, &next, &stranger] {
        world.seal(stage, 1, b"x").await;
    }
    assert!(old(&world).await.is_empty());
    for stage in [&stage, &stranger] {
        world.fixture.make_older(stage, DAY + Duration::from_secs(60));
    }
    world.fixture.make_older(&next, DAY - Duration::from_secs(60));
    assert_eq!(old(&world).await, [stage, stranger].into());
}

pub async fn a_new_part_or_a_result_makes_a_stage_young(world: World) {
    let stages = [world.stage(), world.stage(), world.stage()];
    let mut sealed = Vec::new();
    for stage in &stages {
        sealed.push(world.seal(stage, 1, b"x").await);
        world.fixture.make_older(stage, 2 * DAY);
    }
    assert_eq!(old(&world).await, stages.into());
    world.seal(&stages[0], 2, b"y").await;
    let output = manifest([entry("x", &[&sealed[1]], false)]);
    world.target.lay_out(&stages[1], &output).await.unwrap();
    assert_eq!(old(&world).await, [stages[2]].into());
}

pub async fn a_swept_stage_is_none_and_logs_are_none(world: World) {
    let stage = world.stage();
    world.seal(&stage, 1, b"x").await;
    let mut log = world.target.open_log(&stage).await.unwrap();
    log.append(b"said\n");
    log.flush().await;
    world.fixture.make_older(&stage, 2 * DAY);
    assert_eq!(old(&world).await, [stage].into());
    world.target.sweep(&stage, &[].into()).await.unwrap();
    assert!(old(&world).await.is_empty());
}
