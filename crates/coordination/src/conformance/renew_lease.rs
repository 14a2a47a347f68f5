//! `RenewLease`.

use protocol::Guard;

use super::pool::{LEASE, Pool, millis};

/// Guards `stale`, `lease_live`.
pub async fn only_the_incarnation_that_holds_the_lease_renews_it(pool: &Pool) {
    pool.open(1).await;
    pool.execute(1, 1).await;
    assert!(pool.renew(1, 1, 1).await.taken().is_some());
    for (job, attempt, worker) in [(2, 1, 1), (1, 2, 1), (1, 1, 2)] {
        let refused = pool.renew(job, attempt, worker).await.refused();
        assert_eq!(refused, Some(Guard::LeaseLive), "{job} {attempt} {worker}");
    }
    pool.believe(2);
    assert_eq!(pool.renew(1, 1, 1).await.refused(), Some(Guard::Stale));
}

/// The effect.
pub async fn a_renewed_lease_is_young_again(pool: &Pool) {
    pool.open(1).await;
    pool.execute(1, 1).await;
    for _ in 0..5 {
        pool.advance(LEASE - LEASE / 10).await;
        let renewed = pool.renew(1, 1, 1).await.taken().expect("renewed");
        assert_eq!(renewed.lease_ms, millis(LEASE));
        assert_eq!(pool.expire(9).await, []);
    }
}

/// The spec's `LeaseLive`: only `ExpireLease` ends a lease by age.
pub async fn a_lease_past_its_length_is_live_until_it_is_expired(pool: &Pool) {
    pool.open(1).await;
    pool.execute(1, 1).await;
    pool.advance(LEASE * 3).await;
    assert_eq!(pool.state().await.leases, 1);
    assert!(pool.renew(1, 1, 1).await.taken().is_some());
    assert_eq!(pool.expire(9).await, []);
}

/// The worker learns of a cancel.
pub async fn the_answer_tells_of_a_cancel_notice(pool: &Pool) {
    pool.open(1).await;
    pool.execute(1, 1).await;
    assert!(!pool.renew(1, 1, 1).await.taken().expect("renewed").cancel_notice);
    pool.notice(1, 1).await;
    assert!(pool.renew(1, 1, 1).await.taken().expect("renewed").cancel_notice);
}

/// Rule 8: the pool's length comes with every renewal.
pub async fn the_answer_carries_the_length_in_force(pool: &Pool) {
    pool.open(1).await;
    pool.execute(1, 1).await;
    let mut config = pool.state().await.config;
    config.revision += 1;
    config.lease_ms *= 2;
    pool.room().configure(&pool.at(), &config).await.expect("an answer");
    assert_eq!(pool.renew(1, 1, 1).await.taken().expect("renewed").lease_ms, config.lease_ms);
    pool.advance(LEASE).await;
    assert_eq!(pool.expire(9).await, [], "and is what counts");
}
