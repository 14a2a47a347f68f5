//! `PublishCancelNotice`.

use protocol::{Guard, Step};

use super::pool::Pool;

/// Guards `stale`, `not_noticed`.
pub async fn a_notice_is_published_once(pool: &Pool) {
    pool.open(2).await;
    pool.believe(2);
    assert_eq!(pool.notice(1, 1).await.refused(), Some(Guard::Stale));
    pool.believe(1);
    assert_eq!(pool.notice(1, 1).await, Step::Taken(()));
    assert_eq!(pool.notice(1, 1).await.refused(), Some(Guard::NotNoticed));
    let holdings = pool.room().holdings(None, 9).await.expect("an answer");
    assert!(holdings.jobs[0].notice);
}

/// A notice takes no place, and outlives the lease until it is cleaned.
pub async fn a_notice_stays_until_it_is_cleaned(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    pool.notice(1, 1).await;
    assert_eq!(pool.in_use().await, 1);
    pool.release(1, 1).await;
    assert!(pool.room().holdings(None, 9).await.expect("an answer").jobs[0].notice);
    assert_eq!(pool.clean(1).await, Step::Taken(()));
    assert_eq!(pool.room().holdings(None, 9).await.expect("an answer").jobs, []);
}
