//! `Enqueue`.

use protocol::{Guard, Priority, Step, Window, limit};

use super::pool::{LEASE, Pool, serving, usual, window};
use super::requests::enqueue_request;
use crate::Enqueued;

/// Effect and count.
pub async fn a_job_is_queued_once_and_counted(pool: &Pool) {
    pool.open(1).await;
    assert_eq!(pool.enqueue(1).await, Step::Taken(Enqueued { entries: 1 }));
    assert_eq!(pool.enqueue(2).await, Step::Taken(Enqueued { entries: 2 }));
    assert_eq!(pool.enqueue(1).await.refused(), Some(Guard::NotQueued));
    assert_eq!(pool.enqueue_into(1, window("other", 1), 0).await.refused(), Some(Guard::NotQueued));
    assert_eq!(pool.state().await.queued, 2);
}

/// Guard `stale`.
pub async fn another_epoch_is_refused_as_stale(pool: &Pool) {
    assert_eq!(pool.enqueue(1).await.refused(), Some(Guard::Stale), "the store is empty");
    pool.open(1).await;
    pool.believe(2);
    assert_eq!(pool.enqueue(1).await.refused(), Some(Guard::Stale));
    pool.believe(0);
    assert_eq!(pool.enqueue(1).await.refused(), Some(Guard::Stale));
}

/// Guard `not_reserved`.
pub async fn a_job_with_a_reservation_is_refused(pool: &Pool) {
    pool.open(1).await;
    pool.enqueue(1).await;
    pool.reserve(1, 1).await;
    assert_eq!(pool.enqueue(1).await.refused(), Some(Guard::NotReserved));
}

/// Guard `lease_not_live`.
pub async fn a_job_with_a_live_lease_is_refused_until_it_ends(pool: &Pool) {
    pool.open(1).await;
    pool.execute(1, 1).await;
    assert_eq!(pool.enqueue(1).await.refused(), Some(Guard::LeaseNotLive));
    pool.release(1, 1).await;
    assert!(pool.enqueue(1).await.taken().is_some());
}

/// Guard `window_registered`.
pub async fn a_window_that_no_living_worker_serves_is_refused(pool: &Pool) {
    pool.open(1).await;
    let other = Window { queue: "q".to_owned(), kind: "other".to_owned(), priority: Priority(2) };
    assert_eq!(pool.enqueue_into(1, other.clone(), 1).await.refused(), Some(Guard::WindowRegistered));
    let mut named = serving(2);
    named.kinds = vec!["other".to_owned()];
    named.queues = Some(vec!["q".to_owned()]);
    pool.register(&named).await;
    assert!(pool.enqueue_into(1, other.clone(), 1).await.taken().is_some());
    let elsewhere = Window { queue: "r".to_owned(), ..other };
    assert_eq!(pool.enqueue_into(2, elsewhere.clone(), 1).await.refused(), Some(Guard::WindowRegistered));
    named.draining = true;
    pool.register(&named).await;
    let same = Window { queue: "q".to_owned(), ..elsewhere };
    assert_eq!(pool.enqueue_into(3, same, 1).await.refused(), Some(Guard::WindowRegistered), "it drains");
}

/// Two lease lengths without a word, and a worker is forgotten.
pub async fn a_worker_that_is_silent_or_leaves_serves_nothing(pool: &Pool) {
    pool.open(1).await;
    pool.advance(LEASE * 2).await;
    assert!(pool.enqueue(1).await.taken().is_some(), "two lease lengths are not too long");
    pool.advance(LEASE / 10).await;
    assert_eq!(pool.enqueue(2).await.refused(), Some(Guard::WindowRegistered));
    pool.register(&serving(5)).await;
    assert!(pool.enqueue(2).await.taken().is_some());
    pool.room().deregister(&pool.at(), protocol::Incarnation(5)).await.expect("an answer");
    assert_eq!(pool.enqueue(3).await.refused(), Some(Guard::WindowRegistered));
}

/// Guard `window_full`: nothing is evicted.
pub async fn a_full_window_refuses_and_evicts_nothing(pool: &Pool) {
    pool.open(1).await;
    let batch: Vec<_> = (0..=limit::WINDOW_ENTRIES)
        .map(|n| u64::try_from(n).expect("a small number"))
        .map(|n| enqueue_request(u128::from(n), usual(), 10_000 - n))
        .collect();
    let answers = pool.room().enqueue(&pool.at(), &batch).await.expect("an answer");
    let (last, all) = answers.split_last().expect("answers");
    assert!(all.iter().all(|answer| answer.step.refused().is_none()));
    assert_eq!(last.step.refused(), Some(Guard::WindowFull), "although it would be the first");
    assert_eq!(pool.state().await.queued, limit::WINDOW_ENTRIES);
    assert!(pool.enqueue_into(90_000, window("q", 3), 1).await.taken().is_some(), "another window has room");
    pool.reserve(1, 1).await;
    assert!(pool.enqueue(90_001).await.taken().is_some(), "and this one again");
}

/// Rule 9: while opening, windows are filled.
pub async fn it_is_allowed_while_the_pool_is_opening(pool: &Pool) {
    pool.install(1, 1).await;
    assert!(pool.enqueue(1).await.taken().is_some());
    assert_eq!(pool.reserve(1, 1).await.refused(), Some(Guard::Opening));
}

/// Rule 10.
pub async fn one_refused_row_does_not_harm_its_neighbours(pool: &Pool) {
    pool.open(1).await;
    let nobodys = Window { kind: "nobody".to_owned(), ..usual() };
    let batch =
        [enqueue_request(1, usual(), 1), enqueue_request(2, nobodys, 1), enqueue_request(3, usual(), 3)];
    let answers = pool.room().enqueue(&pool.at(), &batch).await.expect("an answer");
    let guards: Vec<_> = answers.iter().map(|answer| answer.step.refused()).collect();
    assert_eq!(guards, [None, Some(Guard::WindowRegistered), None]);
}
