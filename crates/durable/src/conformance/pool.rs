//! The pool's row: the epoch's compare-and-swap and the configuration.

use protocol::{ActorId, FaultKind, Guard, Origin, TargetId, Violation};

use super::world::World;
use crate::{Configure, PoolRow, RaiseEpoch};

async fn raise(world: &World, from: u64, to: u64) -> Result<PoolRow, Guard> {
    let answer = world.room.raise_epoch(&world.origin(), &RaiseEpoch { from, to }).await.unwrap();
    let refused = answer.step.refused();
    answer.step.taken().ok_or_else(|| refused.unwrap())
}

async fn open(world: &World, epoch: u64) -> Result<PoolRow, Guard> {
    let answer = world.room.open_epoch(&world.origin(), epoch).await.unwrap();
    let refused = answer.step.refused();
    answer.step.taken().ok_or_else(|| refused.unwrap())
}

pub async fn a_new_pool_is_open_in_its_first_epoch(world: World) {
    let pool = world.room.pool().await.unwrap();
    assert_eq!((pool.epoch, pool.open), (1, true));
    assert_eq!((pool.lease_ms, pool.global_limit), (15_000, 1_000));
    assert!(pool.paused.is_empty());
}

pub async fn an_epoch_is_raised_once_then_helped_then_open(world: World) {
    let raised = raise(&world, 1, 4).await.unwrap();
    assert_eq!((raised.epoch, raised.open), (4, false));
    assert_eq!(raise(&world, 1, 4).await.unwrap(), raised, "the same move again finds it done");
    assert_eq!(raise(&world, 4, 5).await, Err(Guard::EpochCurrent), "one that is opening is never raised");
    assert_eq!(raise(&world, 1, 9).await, Err(Guard::EpochCurrent));
    assert_eq!(open(&world, 3).await, Err(Guard::EpochCurrent));
    assert_eq!(open(&world, 5).await, Err(Guard::EpochCurrent));
    let opened = open(&world, 4).await.unwrap();
    assert_eq!((opened.epoch, opened.open), (4, true));
    assert_eq!(open(&world, 4).await.unwrap(), opened, "open already");
    assert_eq!(world.room.pool().await.unwrap(), opened);
    assert_eq!(raise(&world, 1, 4).await.unwrap(), opened, "a late repeat of the move");
    assert_eq!(raise(&world, 4, 5).await.unwrap().epoch, 5);
    assert_eq!(open(&world, 4).await, Err(Guard::EpochCurrent), "an old opener comes too late");
}

pub async fn of_two_that_raise_the_same_epoch_one_is_told_that_it_did(world: World) {
    let change = RaiseEpoch { from: 1, to: 2 };
    let other = Origin { actor: ActorId(8), sequence: 1, sent_after: 0 };
    let raised = raise(&world, 1, 2).await.unwrap();
    let late = world.room.raise_epoch(&other, &change).await.unwrap();
    assert_eq!(late.step.refused(), Some(Guard::EpochCurrent), "it may not install what it did not raise");
    assert_eq!(raise(&world, 1, 2).await.unwrap(), raised, "who raised it still finds that");
    open(&world, 2).await.unwrap();
    let late = world.room.raise_epoch(&other, &change).await.unwrap();
    assert_eq!(late.step.refused(), Some(Guard::EpochCurrent));
    let next = world.room.raise_epoch(&other, &RaiseEpoch { from: 2, to: 3 }).await.unwrap();
    assert!(next.step.refused().is_none(), "the next one is anybody's");
}

pub async fn an_epoch_never_falls(world: World) {
    raise(&world, 1, 7).await.unwrap();
    open(&world, 7).await.unwrap();
    for to in [0, 1, 6, 7] {
        assert_eq!(raise(&world, 7, to).await, Err(Guard::EpochCurrent));
    }
    assert_eq!(world.room.pool().await.unwrap().epoch, 7);
}

pub async fn a_change_of_the_configuration_raises_its_revision_and_a_repeat_does_not(world: World) {
    let before = world.room.pool().await.unwrap();
    let change = Configure {
        global_limit: Some(7),
        lease_ms: Some(500),
        pause: Some("仕事".to_owned()),
        resume: None,
    };
    let after = world.room.configure(&world.origin(), &change).await.unwrap();
    assert_eq!((after.global_limit, after.lease_ms), (7, 500));
    assert_eq!(after.paused, ["仕事"]);
    assert!(after.config_revision > before.config_revision);
    assert_eq!((after.epoch, after.open), (before.epoch, before.open));
    assert_eq!(world.room.configure(&world.origin(), &change).await.unwrap(), after);
    assert_eq!(world.room.configure(&world.origin(), &Configure::default()).await.unwrap(), after);
    let more = Configure { pause: Some("a".to_owned()), ..Configure::default() };
    assert_eq!(world.room.configure(&world.origin(), &more).await.unwrap().paused, ["a", "仕事"]);
    let resume = Configure { resume: Some("仕事".to_owned()), ..Configure::default() };
    let resumed = world.room.configure(&world.origin(), &resume).await.unwrap();
    assert_eq!((resumed.paused, resumed.global_limit), (vec!["a".to_owned()], 7));
    assert_eq!(resumed.config_revision, after.config_revision + 2);
}

pub async fn a_configuration_out_of_range_is_a_fault_that_names_field_and_range(world: World) {
    let before = world.room.pool().await.unwrap();
    let wrong = [
        (
            Configure { global_limit: Some(0), ..Configure::default() },
            "global_limit is 0; allowed is 1 to 1000000",
        ),
        (Configure { global_limit: Some(1_000_001), ..Configure::default() }, "global_limit is 1000001"),
        (Configure { lease_ms: Some(499), ..Configure::default() }, "lease is 499 ms; allowed is 500 ms"),
        (Configure { lease_ms: Some(3_600_001), ..Configure::default() }, "lease is 3600001 ms"),
        (Configure { pause: Some("a b".to_owned()), ..Configure::default() }, "queue is a name with ' '"),
        (Configure { resume: Some(String::new()), ..Configure::default() }, "queue is empty"),
    ];
    for (change, text) in wrong {
        let fault = world.room.configure(&world.origin(), &change).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unreachable, "surely not applied");
        let source = std::error::Error::source(&fault).unwrap();
        assert!(source.to_string().contains(text), "{source}");
        assert!(change.validate().is_err_and(|violation: Violation| violation.to_string().contains(text)));
    }
    assert_eq!(world.room.pool().await.unwrap(), before);
}

pub async fn the_target_that_is_named_first_is_the_one_for_ever(world: World) {
    let before = world.room.pool().await.unwrap();
    assert_eq!(before.target, None);
    let (first, other) = (TargetId(u128::MAX), TargetId(7));
    assert_eq!(world.room.adopt_target(&world.origin(), first).await.unwrap(), first);
    assert_eq!(world.room.adopt_target(&world.origin(), first).await.unwrap(), first, "again");
    assert_eq!(world.room.adopt_target(&world.origin(), other).await.unwrap(), first);
    let after = world.room.pool().await.unwrap();
    assert_eq!(after, PoolRow { target: Some(first), ..before }, "the installation and all else stay");
}
