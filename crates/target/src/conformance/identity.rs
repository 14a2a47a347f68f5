//! Which target a room is.

use std::sync::Arc;

use protocol::TargetId;

use super::world::{World, bad};

/// The key of the marker.
const KEY: &str = "remora-target";

pub async fn a_new_room_has_none_and_reading_makes_none(world: World) {
    assert_eq!(world.target.identity(None).await.unwrap(), None);
    assert_eq!(world.fixture.peek(KEY), None);
}

pub async fn the_first_that_is_offered_is_the_one_for_ever(world: World) {
    let (first, later) = (TargetId(u128::MAX), TargetId(7));
    assert_eq!(world.target.identity(Some(first)).await.unwrap(), Some(first));
    for offered in [None, Some(first), Some(later)] {
        assert_eq!(world.target.identity(offered).await.unwrap(), Some(first), "{offered:?}");
    }
    assert_eq!(world.fixture.peek(KEY).unwrap(), format!("{first}\n").as_bytes());
}

pub async fn of_many_that_are_offered_at_once_all_are_answered_the_same(world: World) {
    let offers: Vec<_> = (1..=8)
        .map(|number| {
            let target = Arc::clone(&world.target);
            tokio::spawn(async move { target.identity(Some(TargetId(number))).await.unwrap() })
        })
        .collect();
    let there = world.target.identity(Some(TargetId(9))).await.unwrap();
    for offer in offers {
        assert_eq!(offer.await.unwrap(), there);
    }
    assert!(there.is_some());
}

pub async fn a_marker_that_names_none_is_bad_data_and_stays(world: World) {
    for bytes in [&b""[..], b"tgt_", b"\xff"] {
        world.fixture.change(KEY, Some(bytes));
        let told = bad(world.target.identity(Some(TargetId(1))).await, "no id");
        assert!(told.contains(KEY), "{told}");
        bad(world.target.identity(None).await, "no id");
        assert_eq!(world.fixture.peek(KEY).unwrap(), bytes);
    }
}

pub async fn it_is_no_stage_and_no_sweep_takes_it(world: World) {
    let there = world.target.identity(Some(TargetId(5))).await.unwrap();
    let stage = world.stage();
    world.seal(&stage, 1, b"x").await;
    world.target.sweep(&stage, &std::collections::BTreeSet::new()).await.unwrap();
    assert_eq!(world.target.old_stages(std::time::Duration::ZERO).await.unwrap(), []);
    assert_eq!(world.target.identity(None).await.unwrap(), there);
}
