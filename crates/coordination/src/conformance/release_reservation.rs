//! `ReleaseReservation`.

use protocol::{Guard, Step};

use super::pool::Pool;

/// Guards `stale`, `reservation_held`.
pub async fn only_the_exact_reservation_that_was_judged_is_released(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    assert_eq!(pool.release_reservation(1, 11).await.refused(), Some(Guard::ReservationHeld));
    assert_eq!(pool.release_reservation(2, 10).await.refused(), Some(Guard::ReservationHeld));
    pool.believe(2);
    assert_eq!(pool.release_reservation(1, 10).await.refused(), Some(Guard::Stale));
    pool.believe(1);
    assert_eq!(pool.release_reservation(1, 10).await, Step::Taken(()));
    assert_eq!(pool.in_use().await, 0);
}

/// Rule 5, and an old judgement never hits a newer reservation.
pub async fn a_repeat_is_taken_and_leaves_a_newer_reservation_alone(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    pool.release_reservation(1, 10).await;
    pool.enqueue(1).await;
    pool.reserve(1, 11).await;
    assert_eq!(pool.release_reservation(1, 10).await, Step::Taken(()));
    assert_eq!(pool.release_reservation(2, 10).await.refused(), Some(Guard::ReservationHeld));
    assert_eq!(pool.in_use().await, 1);
    assert!(pool.activate(1, 1, 11, 1).await.taken().is_some());
}

/// The worker learns of it at its activation.
pub async fn a_released_reservation_activates_nothing(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    pool.release_reservation(1, 10).await;
    assert_eq!(pool.activate(1, 1, 10, 1).await.refused(), Some(Guard::ReservationHeld));
    assert_eq!(pool.hand_back(1, 10, 1).await.refused(), Some(Guard::ReservationHeld));
}
