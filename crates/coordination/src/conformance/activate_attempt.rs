//! `ActivateAttempt`.

use protocol::{Guard, Step};

use super::pool::{LEASE, Pool, millis};
use crate::Lease;

/// The effect: no place becomes free on the way.
pub async fn the_reservation_becomes_the_lease_of_the_attempt(pool: &Pool) {
    pool.open(1).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    assert_eq!(pool.activate(1, 5, 10, 1).await, Step::Taken(Lease { lease_ms: millis(LEASE) }));
    let state = pool.state().await;
    assert_eq!((state.reservations, state.leases), (0, 1));
    assert_eq!(pool.hand_back(1, 10, 1).await.refused(), Some(Guard::ReservationHeld), "it is used up");
}

/// Guards `stale`, `reservation_held`.
pub async fn only_the_exact_reservation_activates(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    for (job, reservation, worker) in [(2, 10, 1), (1, 11, 1), (1, 10, 2)] {
        let refused = pool.activate(job, 5, reservation, worker).await.refused();
        assert_eq!(refused, Some(Guard::ReservationHeld), "{job} {reservation} {worker}");
    }
    pool.believe(2);
    assert_eq!(pool.activate(1, 5, 10, 1).await.refused(), Some(Guard::Stale));
    pool.believe(1);
    pool.hand_back(1, 10, 1).await;
    assert_eq!(pool.activate(1, 5, 10, 1).await.refused(), Some(Guard::ReservationHeld));
    assert_eq!(pool.in_use().await, 0);
}

/// Rule 5: the repeat is answered with a whole lease length from its own sending, so it must hold.
pub async fn the_same_attempt_again_is_taken_and_young_again(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    pool.advance(LEASE / 2).await;
    assert!(pool.activate(1, 1, 1, 1).await.taken().is_some());
    pool.advance(LEASE / 2).await;
    assert_eq!(pool.expire(9).await, []);
    assert_eq!(pool.in_use().await, 1);
    pool.release(1, 1).await;
    assert_eq!(pool.activate(1, 1, 1, 1).await.refused(), Some(Guard::ReservationHeld), "it has ended");
}

/// While opening, a claim of this epoch cannot be; of an older one it has no reservation.
pub async fn a_loss_takes_the_reservation_away(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    pool.lose().await;
    assert_eq!(pool.activate(1, 5, 10, 1).await.refused(), Some(Guard::Stale));
    pool.install(2, 2).await;
    assert_eq!(pool.activate(1, 5, 10, 1).await.refused(), Some(Guard::ReservationHeld));
}

/// The lease of a zombie stands beside the current one.
pub async fn a_zombies_lease_stands_beside_the_current_one(pool: &Pool) {
    pool.open(3).await;
    pool.enqueue(1).await;
    pool.restore(1, 5, 1).await;
    pool.reserve(2, 20).await;
    assert!(pool.activate(1, 6, 20, 2).await.taken().is_some());
    assert_eq!(pool.in_use().await, 2);
    assert!(pool.renew(1, 5, 1).await.taken().is_some());
    assert!(pool.renew(1, 6, 2).await.taken().is_some());
    let holdings = pool.room().holdings(None, 9).await.expect("an answer");
    assert_eq!(holdings.jobs[0].leases.len(), 2);
    assert!(pool.release(1, 5).await.taken().is_some());
    assert!(pool.renew(1, 6, 2).await.taken().is_some(), "the current one is not touched");
    assert_eq!(pool.in_use().await, 1);
}
