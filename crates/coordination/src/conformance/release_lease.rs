//! `ReleaseLease`.

use protocol::{Guard, JobId, Step};

use super::pool::Pool;

/// Guards `stale`, `lease_live`; a second release does nothing.
pub async fn a_live_lease_is_given_back_once(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    pool.believe(2);
    assert_eq!(pool.release(1, 1).await.refused(), Some(Guard::Stale));
    pool.believe(1);
    assert_eq!(pool.release(2, 1).await.refused(), Some(Guard::LeaseLive), "another job's");
    assert_eq!(pool.release(1, 2).await.refused(), Some(Guard::LeaseLive), "another attempt's");
    assert_eq!(pool.release(1, 1).await, Step::Taken(()));
    assert_eq!(pool.in_use().await, 0);
    assert_eq!(pool.release(1, 1).await.refused(), Some(Guard::LeaseLive));
    assert_eq!(pool.in_use().await, 0);
}

/// The progress shown goes with its attempt's lease, and only with its own.
pub async fn the_progress_shown_goes_with_the_lease_of_its_attempt(pool: &Pool) {
    pool.open(3).await;
    pool.enqueue(1).await;
    pool.restore(1, 5, 1).await;
    pool.reserve(2, 20).await;
    pool.activate(1, 6, 20, 2).await;
    pool.report(1, 6, 2, 4).await;
    pool.release(1, 5).await;
    let shown = pool.room().progress(&[JobId(1)]).await.expect("an answer");
    assert_eq!(shown[0].as_ref().map(|shown| shown.progress.done), Some(4), "the zombie showed nothing");
    pool.release(1, 6).await;
    assert_eq!(pool.room().progress(&[JobId(1)]).await.expect("an answer"), [None]);
}
