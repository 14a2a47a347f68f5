//! `ReapObserve`.

use protocol::{Guard, Step};

use super::pool::{LEASE, Pool};

/// Guards `stale`, `lease_not_live`, `reservation_not_held`.
pub async fn an_attempt_is_lost_without_lease_and_without_reservation_of_its_worker(pool: &Pool) {
    pool.open(2).await;
    pool.enqueue(1).await;
    pool.reserve(1, 10).await;
    assert_eq!(pool.observe(1, 1, 1, 1).await.refused(), Some(Guard::ReservationNotHeld));
    assert_eq!(pool.observe(1, 1, 2, 1).await, Step::Taken(()), "another worker's reservation");
    pool.activate(1, 1, 10, 1).await;
    assert_eq!(pool.observe(1, 1, 1, 1).await.refused(), Some(Guard::LeaseNotLive));
    pool.advance(LEASE * 2).await;
    assert_eq!(pool.observe(1, 1, 1, 1).await.refused(), Some(Guard::LeaseNotLive), "until it is expired");
    pool.expire(9).await;
    assert_eq!(pool.observe(1, 1, 1, 1).await, Step::Taken(()));
    assert_eq!(pool.observe(1, 1, 1, 1).await, Step::Taken(()), "it is a read");
    pool.believe(2);
    assert_eq!(pool.observe(1, 1, 1, 1).await.refused(), Some(Guard::Stale));
}

/// Guards `opening`, `grace`; rule 9.
pub async fn an_older_epochs_attempt_is_judged_after_the_grace(pool: &Pool) {
    pool.open(2).await;
    pool.lose().await;
    pool.install(2, 2).await;
    assert_eq!(pool.observe(1, 1, 1, 1).await.refused(), Some(Guard::Opening));
    pool.open_epoch().await;
    assert_eq!(pool.observe(1, 1, 1, 1).await.refused(), Some(Guard::Grace));
    assert_eq!(pool.observe(1, 1, 1, 2).await, Step::Taken(()), "one of this epoch");
    assert_eq!(pool.observe_as(1, 1, 1, (1, true)).await, Step::Taken(()), "its own worker knows");
    pool.advance(LEASE - LEASE / 100).await;
    assert_eq!(pool.observe(1, 1, 1, 1).await.refused(), Some(Guard::Grace));
    pool.advance(LEASE / 100).await;
    assert_eq!(pool.observe(1, 1, 1, 1).await, Step::Taken(()));
}

/// What a judgement rests on is ordered.
pub async fn the_answers_mark_is_after_what_it_saw(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    pool.release(1, 1).await;
    let before = pool.state().await.mark;
    let request = crate::ReapObserve {
        job: protocol::JobId(1),
        attempt: protocol::AttemptId(1),
        worker: protocol::Incarnation(1),
        claimed_epoch: 1,
        by_holder: false,
    };
    let answers = pool.room().reap_observe(&pool.at(), &[request]).await.expect("an answer");
    assert!(answers[0].mark >= before);
}
