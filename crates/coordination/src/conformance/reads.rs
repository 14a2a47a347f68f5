//! The reads.

use protocol::{AttemptId, Incarnation, JobId, ReservationId, Token};

use super::pool::{LEASE, Pool, millis, serving, usual, window};

/// Pages in the order of jobs.
pub async fn holdings_come_page_by_page_in_the_order_of_jobs(pool: &Pool) {
    pool.open(9).await;
    pool.execute(3, 1).await;
    pool.advance(LEASE / 3).await;
    pool.enqueue(1).await;
    pool.reserve(2, 10).await;
    pool.notice(2, 77).await;
    pool.enqueue(4).await;
    let page = pool.room().holdings(None, 2).await.expect("an answer");
    assert_eq!(page.jobs.iter().map(|held| held.job.0).collect::<Vec<_>>(), [1, 2], "4 is only queued");
    assert!(page.more);
    assert_eq!(page.jobs[0].reservation, Some((ReservationId(10), Incarnation(2))));
    assert!(page.jobs[1].notice);
    let page = pool.room().holdings(Some(JobId(2)), 2).await.expect("an answer");
    assert!(!page.more);
    let lease = &page.jobs[0].leases[0];
    assert_eq!((page.jobs[0].job, lease.attempt), (JobId(3), AttemptId(3)));
    assert_eq!((lease.token, lease.worker), (Token(1), Incarnation(1)));
    assert_eq!(lease.age_ms, millis(LEASE / 3));
    assert_eq!(page.mark, pool.state().await.mark);
}

/// What is served and what waits.
pub async fn windows_that_are_served_are_listed_with_their_entries(pool: &Pool) {
    pool.open(9).await;
    let mut named = serving(2);
    named.queues = Some(vec!["named".to_owned()]);
    named.kinds = vec!["k".to_owned()];
    pool.register(&named).await;
    pool.enqueue(1).await;
    pool.enqueue(2).await;
    let windows = pool.room().windows().await.expect("an answer");
    let entries = |window| windows.iter().find(|state| state.window == window).map(|state| state.entries);
    assert_eq!(entries(usual()), Some(2));
    assert_eq!(entries(window("named", 1)), Some(0), "an empty one that someone named");
    assert_eq!(entries(window("nobody", 1)), None);
}

/// Registrations.
pub async fn workers_are_listed_with_age_and_leases_and_forgotten_when_silent(pool: &Pool) {
    pool.open(9).await;
    pool.register(&serving(1)).await;
    pool.execute(5, 1).await;
    pool.advance(LEASE).await;
    let workers = pool.room().workers().await.expect("an answer");
    let one = workers.iter().find(|view| view.registration.worker == Incarnation(1)).expect("known");
    assert_eq!((one.registration.clone(), one.seen_ms_ago), (serving(1), millis(LEASE)));
    assert_eq!(one.attempts.iter().map(|held| held.attempt.0).collect::<Vec<_>>(), [5]);
    pool.advance(LEASE + LEASE / 10).await;
    assert_eq!(pool.room().workers().await.expect("an answer"), []);
}

/// The answer to a registration.
pub async fn a_registration_is_answered_with_the_windows_that_wait(pool: &Pool) {
    pool.open(9).await;
    pool.enqueue(1).await;
    pool.enqueue_into(2, window("other", 1), 1).await;
    let mut named = serving(2);
    named.queues = Some(vec!["q".to_owned(), "empty".to_owned()]);
    let answer = pool.room().register(&pool.at(), &named).await.expect("an answer");
    let registered = answer.step.taken().expect("registered");
    assert_eq!((registered.windows, registered.lease_ms), (vec![usual()], millis(LEASE)));
}

/// A drain from afar.
pub async fn a_worker_that_was_asked_to_drain_hears_of_it_when_it_registers(pool: &Pool) {
    pool.open(1).await;
    let (room, at) = (pool.room(), || pool.at());
    let hears = async |worker: &crate::Registration| {
        let answer = room.register(&at(), worker).await.expect("an answer");
        answer.step.taken().expect("registered").drain
    };
    let ask = async |worker| {
        let answer = room.request_drain(&at(), Incarnation(worker)).await.expect("an answer");
        answer.step.taken().expect("it is answered")
    };
    assert!(!ask(5).await, "nobody knows it");
    assert!(!hears(&serving(5)).await, "nobody was asked");
    assert!(!hears(&serving(6)).await);
    assert!(ask(5).await && ask(5).await, "again is the same");
    assert!(hears(&serving(5)).await, "it hears of it");
    let mut draining = serving(5);
    draining.draining = true;
    assert!(hears(&draining).await, "and again, also when it serves something else");
    assert!(hears(&draining).await);
    assert!(!hears(&serving(6)).await, "its neighbour does not");
    room.deregister(&at(), Incarnation(5)).await.expect("an answer");
    assert!(!hears(&serving(5)).await, "forgotten with the worker");
    assert!(ask(5).await);
    pool.advance(LEASE * 2 + LEASE / 10).await;
    assert!(!ask(5).await, "a silent worker is forgotten");
    assert!(!hears(&serving(5)).await, "and what it was asked");
    let old = crate::At { epoch: 9, ..pool.at() };
    let refused = room.request_drain(&old, Incarnation(5)).await.expect("an answer").step.refused();
    assert_eq!(refused, Some(protocol::Guard::Stale));
}
