//! `RestoreLease`.

use protocol::{Guard, Step};

use super::pool::{LEASE, Pool, millis};
use crate::Lease;

async fn after_a_loss(pool: &Pool, limit: u32, unaccounted: &[u128]) {
    pool.open(limit).await;
    pool.lose().await;
    pool.install(2, limit).await;
    assert_eq!(pool.account(unaccounted).await, Step::Taken(()));
}

/// The effect: a place moves from the set to the leases.
pub async fn an_attempt_of_the_set_keeps_its_place(pool: &Pool) {
    after_a_loss(pool, 1, &[1]).await;
    assert_eq!(pool.in_use().await, 1);
    assert_eq!(pool.restore(1, 1, 1).await, Step::Taken(Lease { lease_ms: millis(LEASE) }));
    let state = pool.state().await;
    assert_eq!((state.leases, state.unaccounted), (1, 0), "while opening, too");
    pool.open_epoch().await;
    assert!(pool.renew(1, 1, 1).await.taken().is_some());
}

/// Guard `global_limit`.
pub async fn an_attempt_that_is_not_in_the_set_needs_a_free_place(pool: &Pool) {
    after_a_loss(pool, 1, &[1]).await;
    assert_eq!(pool.restore(2, 2, 1).await.refused(), Some(Guard::GlobalLimit));
    pool.settle(1).await;
    assert!(pool.restore(2, 2, 1).await.taken().is_some());
}

/// Guards `stale`, `grace_over`.
pub async fn it_is_possible_only_inside_the_grace(pool: &Pool) {
    after_a_loss(pool, 2, &[1]).await;
    pool.open_epoch().await;
    pool.believe(1);
    assert_eq!(pool.restore(1, 1, 1).await.refused(), Some(Guard::Stale));
    pool.believe(2);
    pool.advance(LEASE - LEASE / 100).await;
    assert!(pool.restore(2, 2, 1).await.taken().is_some());
    pool.advance(LEASE / 100).await;
    assert_eq!(pool.restore(1, 1, 1).await.refused(), Some(Guard::GraceOver));
}

/// Guard `lease_ended_by_age`.
pub async fn a_lease_that_ended_by_age_in_this_epoch_is_never_restored(pool: &Pool) {
    after_a_loss(pool, 2, &[1]).await;
    pool.open_epoch().await;
    let mut config = pool.state().await.config;
    config.lease_ms /= 4;
    config.revision += 1;
    pool.room().configure(&pool.at(), &config).await.expect("an answer");
    pool.restore(1, 1, 1).await;
    config.lease_ms *= 4;
    config.revision += 1;
    pool.room().configure(&pool.at(), &config).await.expect("an answer");
    pool.advance(LEASE / 2).await;
    assert_eq!(pool.expire(9).await, [Step::Taken(1)]);
    assert_eq!(pool.restore(1, 1, 1).await.refused(), Some(Guard::LeaseEndedByAge));
}

/// Guard `authority`: a late repeat does not bring an ended attempt back.
pub async fn an_attempt_whose_end_was_seen_in_this_epoch_is_not_restored(pool: &Pool) {
    after_a_loss(pool, 3, &[1, 2]).await;
    pool.restore(1, 1, 1).await;
    pool.release(1, 1).await;
    assert_eq!(pool.restore(1, 1, 1).await.refused(), Some(Guard::Authority));
    pool.settle(2).await;
    assert_eq!(pool.restore(2, 2, 1).await.refused(), Some(Guard::Authority));
    assert_eq!(pool.account(&[1, 2]).await, Step::Taken(()));
    assert_eq!(pool.in_use().await, 0, "nor counted again");
}

/// Rule 5.
pub async fn a_live_one_is_taken_again_and_young_again(pool: &Pool) {
    after_a_loss(pool, 1, &[1]).await;
    pool.open_epoch().await;
    pool.restore(1, 1, 1).await;
    pool.advance(LEASE / 2).await;
    assert!(pool.restore(1, 1, 1).await.taken().is_some());
    assert_eq!(pool.restore(1, 1, 2).await.refused(), Some(Guard::LeaseLive), "another incarnation's");
    pool.advance(LEASE / 2).await;
    assert_eq!(pool.expire(9).await, []);
    assert!(pool.restore(1, 1, 1).await.taken().is_some(), "live, so it needs no grace");
    assert_eq!(pool.in_use().await, 1);
}
