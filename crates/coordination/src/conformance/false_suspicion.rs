//! `FalseSuspicion`: reservations dropped by age.

use protocol::{Guard, Step};

use super::pool::{LEASE, Pool};

/// The deadline is a lease length.
pub async fn a_reservation_is_dropped_at_its_deadline_and_not_before(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    pool.advance(LEASE - LEASE / 100).await;
    assert_eq!(pool.drop_overdue(9).await, []);
    pool.advance(LEASE / 100).await;
    assert_eq!(pool.drop_overdue(9).await, [Step::Taken(10)]);
    assert_eq!(pool.in_use().await, 0);
    assert_eq!(pool.activate(1, 1, 10, 1).await.refused(), Some(Guard::ReservationHeld));
    assert_eq!(pool.hand_back(1, 10, 1).await.refused(), Some(Guard::ReservationHeld));
    assert!(pool.enqueue(1).await.taken().is_some(), "the job can be offered again");
}

/// Bounded, oldest first, and `stale` once.
pub async fn the_oldest_go_first_and_another_epoch_is_refused_once(pool: &Pool) {
    pool.open(9).await;
    for job in [3, 1, 2] {
        pool.enqueue(job).await;
        pool.reserve(1, job).await;
        pool.advance(LEASE / 10).await;
    }
    pool.advance(LEASE).await;
    pool.believe(2);
    assert_eq!(pool.drop_overdue(9).await, [Step::Refused(Guard::Stale)]);
    pool.believe(1);
    assert_eq!(pool.drop_overdue(2).await, [Step::Taken(3), Step::Taken(1)]);
    assert_eq!(pool.drop_overdue(2).await, [Step::Taken(2)]);
}

/// A repeat of `Reserve` promises a whole deadline from its own sending.
pub async fn a_repeated_reserve_renews_the_deadline(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    pool.advance(LEASE / 2).await;
    pool.reserve(1, 10).await;
    pool.advance(LEASE / 2).await;
    assert_eq!(pool.drop_overdue(9).await, []);
}
