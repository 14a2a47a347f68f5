//! `ExpireLease`.

use protocol::{Guard, Step};

use super::pool::{LEASE, Pool};

/// The age that counts is the whole length, and not less.
pub async fn a_lease_ends_at_its_length_and_not_before(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    pool.advance(LEASE - LEASE / 100).await;
    assert_eq!(pool.expire(9).await, []);
    pool.advance(LEASE / 100).await;
    assert_eq!(pool.expire(9).await, [Step::Taken(1)]);
    assert_eq!(pool.in_use().await, 0);
    assert_eq!(pool.expire(9).await, []);
    assert_eq!(pool.renew(1, 1, 1).await.refused(), Some(Guard::LeaseLive));
}

/// Bounded batches, the oldest first.
pub async fn the_oldest_end_first_and_no_more_than_asked_for(pool: &Pool) {
    pool.open(9).await;
    for job in [3, 1, 2] {
        pool.execute(job, 1).await;
        pool.advance(LEASE / 10).await;
    }
    pool.advance(LEASE).await;
    assert_eq!(pool.expire(2).await, [Step::Taken(3), Step::Taken(1)]);
    assert_eq!(pool.expire(2).await, [Step::Taken(2)]);
}

/// Guard `stale`: one refusal.
pub async fn another_epoch_is_refused_once(pool: &Pool) {
    assert_eq!(pool.expire(9).await, [Step::Refused(Guard::Stale)]);
    pool.open(9).await;
    pool.execute(1, 1).await;
    pool.advance(LEASE).await;
    pool.believe(2);
    assert_eq!(pool.expire(9).await, [Step::Refused(Guard::Stale)]);
}

/// The effect on what is shown.
pub async fn the_progress_of_the_attempt_is_shown_no_more(pool: &Pool) {
    pool.open(9).await;
    pool.execute(1, 1).await;
    pool.report(1, 1, 1, 4).await;
    pool.advance(LEASE).await;
    pool.expire(9).await;
    let shown = pool.room().progress(&[protocol::JobId(1)]).await.expect("an answer");
    assert_eq!(shown, [None]);
    assert_eq!(pool.clean(1).await.refused(), Some(Guard::SomethingToClean));
}
