//! `ClaimRefused`, and the renewal of reservations.

use protocol::{Guard, Step};

use super::pool::{LEASE, Pool};

/// Guards `stale`, `reservation_held`: exact in all three.
pub async fn only_the_exact_reservation_of_that_worker_is_handed_back(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    for (job, reservation, worker) in [(2, 10, 1), (1, 11, 1), (1, 10, 2)] {
        let refused = pool.hand_back(job, reservation, worker).await.refused();
        assert_eq!(refused, Some(Guard::ReservationHeld), "{job} {reservation} {worker}");
    }
    pool.believe(2);
    assert_eq!(pool.hand_back(1, 10, 1).await.refused(), Some(Guard::Stale));
    pool.believe(1);
    assert_eq!(pool.in_use().await, 1);
    assert_eq!(pool.hand_back(1, 10, 1).await, Step::Taken(()));
    assert_eq!(pool.in_use().await, 0);
}

/// Rule 5.
pub async fn a_repeated_hand_back_is_taken_and_frees_nothing_twice(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    pool.hand_back(1, 10, 1).await;
    pool.enqueue(1).await;
    pool.reserve(2, 20).await;
    assert_eq!(pool.hand_back(1, 10, 1).await, Step::Taken(()), "as the first time");
    assert_eq!(pool.hand_back(1, 10, 2).await.refused(), Some(Guard::ReservationHeld));
    assert_eq!(pool.in_use().await, 1, "the newer reservation of the job stays");
}

/// The entry does not come back by itself: the dispatcher reads the outbox again.
pub async fn the_job_is_offered_again_only_when_it_is_enqueued_again(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    pool.hand_back(1, 10, 1).await;
    assert_eq!(pool.reserve(1, 11).await.refused(), Some(Guard::Queued));
    assert!(pool.enqueue(1).await.taken().is_some());
    assert!(pool.reserve(1, 12).await.taken().is_some());
}

/// A renewed reservation lives on.
pub async fn a_renewed_reservation_is_not_dropped(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    pool.advance(LEASE / 2).await;
    assert_eq!(pool.renew_reservation(1, 10, 1).await, Step::Taken(()));
    pool.advance(LEASE / 2).await;
    assert_eq!(pool.drop_overdue(9).await, []);
    assert_eq!(pool.renew_reservation(1, 10, 2).await.refused(), Some(Guard::ReservationHeld));
    pool.believe(2);
    assert_eq!(pool.renew_reservation(1, 10, 1).await.refused(), Some(Guard::Stale));
    pool.believe(1);
    pool.hand_back(1, 10, 1).await;
    assert_eq!(pool.renew_reservation(1, 10, 1).await.refused(), Some(Guard::ReservationHeld));
}
