//! `CleanTerminalCoordination`.

use protocol::{Guard, JobId, Step};

use super::pool::Pool;

/// Guards `stale`, `something_to_clean`.
pub async fn a_job_of_which_nothing_is_held_is_refused(pool: &Pool) {
    pool.open(2).await;
    assert_eq!(pool.clean(1).await.refused(), Some(Guard::SomethingToClean));
    pool.enqueue(1).await;
    pool.believe(2);
    assert_eq!(pool.clean(1).await.refused(), Some(Guard::Stale));
    pool.believe(1);
    assert_eq!(pool.clean(1).await, Step::Taken(()));
    assert_eq!(pool.clean(1).await.refused(), Some(Guard::SomethingToClean));
    assert_eq!(pool.state().await.queued, 0);
}

/// The reservation goes, its place with it.
pub async fn the_reservation_goes_and_its_place_is_free(pool: &Pool) {
    pool.open(1).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    assert_eq!(pool.clean(1).await, Step::Taken(()));
    assert_eq!(pool.in_use().await, 0);
    assert_eq!(pool.activate(1, 1, 10, 1).await.refused(), Some(Guard::ReservationHeld));
}

/// The lease stays.
pub async fn notice_and_progress_go_and_the_lease_stays(pool: &Pool) {
    pool.open(1).await;
    pool.execute(1, 1).await;
    pool.notice(1, 1).await;
    pool.report(1, 1, 1, 3).await;
    assert_eq!(pool.clean(1).await, Step::Taken(()));
    assert_eq!(pool.in_use().await, 1);
    let renewed = pool.renew(1, 1, 1).await.taken().expect("the lease is live");
    assert!(!renewed.cancel_notice);
    assert_eq!(pool.room().progress(&[JobId(1)]).await.expect("an answer"), [None]);
    let holdings = pool.room().holdings(None, 9).await.expect("an answer");
    assert!(!holdings.jobs[0].notice && !holdings.jobs[0].progress);
}

/// In the spec an attempt that was activated is shown before it has said anything.
pub async fn an_attempt_that_said_nothing_yet_is_something_to_clean(pool: &Pool) {
    pool.open(1).await;
    pool.execute(1, 1).await;
    assert_eq!(pool.clean(1).await, Step::Taken(()));
    assert_eq!(pool.clean(1).await.refused(), Some(Guard::SomethingToClean));
}
