//! `Reserve`.

use protocol::{Guard, Incarnation, JobId, ReservationId, limit};

use super::pool::{LEASE, Pool, millis, usual, window};
use crate::Reserve;

async fn next(pool: &Pool, reservation: u128, windows: &[protocol::Window]) -> Option<u128> {
    pool.reserve_from(1, reservation, windows).await.taken().map(|reserved| reserved.job.0)
}

/// The effect.
pub async fn an_entry_becomes_a_place_with_all_that_the_worker_needs(pool: &Pool) {
    pool.open(5).await;
    let mut request = super::requests::enqueue_request(1, usual(), 1);
    request.checkpoint_revision = 9;
    pool.room().enqueue(&pool.at(), &[request]).await.expect("an answer");
    let reserved = pool.reserve(7, 70).await.taken().expect("a place");
    assert_eq!((reserved.reservation, reserved.job), (ReservationId(70), JobId(1)));
    assert_eq!((reserved.window, reserved.checkpoint_revision), (usual(), 9));
    assert_eq!(reserved.lease_ms, millis(LEASE));
    let state = pool.state().await;
    assert_eq!((state.queued, state.reservations), (0, 1));
}

/// Guards `stale`, `opening`, `queued`.
pub async fn a_stale_an_opening_and_an_empty_pool_refuse(pool: &Pool) {
    assert_eq!(pool.reserve(1, 1).await.refused(), Some(Guard::Stale));
    pool.install(1, 1).await;
    assert_eq!(pool.reserve(1, 1).await.refused(), Some(Guard::Opening));
    pool.open_epoch().await;
    assert_eq!(pool.reserve(1, 1).await.refused(), Some(Guard::Queued));
    pool.enqueue(1).await;
    assert_eq!(pool.reserve_from(1, 1, &[window("other", 2)]).await.refused(), Some(Guard::Queued));
    assert_eq!(pool.reserve_from(1, 1, &[]).await.refused(), Some(Guard::Queued));
    pool.believe(2);
    assert_eq!(pool.reserve(1, 1).await.refused(), Some(Guard::Stale));
}

/// Guard `global_limit`: reservations and leases count alike.
pub async fn places_in_use_never_pass_the_global_limit(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    for job in 2..=4 {
        pool.enqueue(job).await;
    }
    assert!(pool.reserve(1, 2).await.taken().is_some());
    assert_eq!(pool.reserve(1, 3).await.refused(), Some(Guard::GlobalLimit));
    pool.release(1, 1).await;
    assert!(pool.reserve(1, 3).await.taken().is_some());
    assert_eq!(pool.reserve(1, 4).await.refused(), Some(Guard::GlobalLimit));
    assert_eq!(pool.in_use().await, 2);
}

/// Rule 7: a lowered limit drains.
pub async fn a_lowered_limit_drains_and_kills_nothing(pool: &Pool) {
    pool.open(2).await;
    for job in 1..=4 {
        pool.enqueue(job).await;
    }
    pool.reserve(1, 1).await;
    pool.reserve(1, 2).await;
    pool.configure(5, 1, &[]).await;
    assert_eq!(pool.in_use().await, 2, "both places stay");
    pool.hand_back(1, 1, 1).await;
    assert_eq!(pool.reserve(1, 3).await.refused(), Some(Guard::GlobalLimit), "one is one");
    pool.hand_back(2, 2, 1).await;
    assert!(pool.reserve(1, 3).await.taken().is_some());
    pool.configure(4, 9, &[]).await;
    assert_eq!(pool.state().await.config.global_limit, 1, "an older revision changes nothing");
}

/// The order inside a window and over windows.
pub async fn the_lowest_priority_then_position_comes_first(pool: &Pool) {
    pool.open(9).await;
    pool.enqueue_into(1, window("a", 3), 1).await;
    pool.enqueue_into(2, window("a", 2), 7).await;
    pool.enqueue_into(3, window("b", 2), 5).await;
    pool.enqueue_into(4, window("b", 2), 6).await;
    pool.enqueue_into(5, window("c", 1), 1).await;
    let named = [window("a", 3), window("b", 2), window("a", 2)];
    let mut order = Vec::new();
    for reservation in 1..=4 {
        order.push(next(pool, reservation, &named).await);
    }
    assert_eq!(order, [Some(3), Some(4), Some(2), Some(1)]);
    assert_eq!(next(pool, 5, &named).await, None, "the window not named is not looked at");
    assert_eq!(pool.state().await.queued, 1);
}

/// Guard `queue_paused`.
pub async fn a_paused_queue_is_passed_over_and_named_when_nothing_else_is_left(pool: &Pool) {
    pool.open(9).await;
    pool.enqueue_into(1, window("a", 1), 1).await;
    pool.enqueue_into(2, window("b", 2), 2).await;
    let named = [window("a", 1), window("b", 2)];
    pool.configure(2, 9, &["a"]).await;
    assert_eq!(next(pool, 1, &named).await, Some(2));
    assert_eq!(pool.reserve_from(1, 2, &named).await.refused(), Some(Guard::QueuePaused));
    assert_eq!(pool.reserve_from(1, 2, &named[1..]).await.refused(), Some(Guard::Queued));
    pool.configure(3, 9, &[]).await;
    assert_eq!(next(pool, 2, &named).await, Some(1));
}

/// Rule 5.
pub async fn the_same_reservation_id_again_gives_the_same_entry_and_no_second_place(pool: &Pool) {
    pool.open(1).await;
    pool.enqueue(1).await;
    pool.enqueue(2).await;
    let first = pool.reserve(1, 1).await;
    assert!(first.clone().taken().is_some());
    assert_eq!(pool.reserve(1, 1).await, first);
    assert_eq!(pool.in_use().await, 1);
    assert_eq!(pool.reserve(2, 1).await.refused(), Some(Guard::ReservationHeld), "another worker's");
}

/// Rule 5, the other side: an id stands for one reservation.
pub async fn the_id_of_a_reservation_that_has_ended_gives_nothing_new(pool: &Pool) {
    pool.open(9).await;
    for job in 1..=9 {
        pool.enqueue(job).await;
    }
    pool.reserve(1, 1).await;
    pool.hand_back(1, 1, 1).await;
    pool.reserve(1, 2).await;
    pool.release_reservation(2, 2).await;
    pool.reserve(1, 3).await;
    pool.activate(3, 3, 3, 1).await;
    pool.reserve(1, 4).await;
    pool.advance(LEASE).await;
    pool.drop_overdue(9).await;
    pool.reserve(1, 5).await;
    pool.clean(5).await;
    for ended in 1..=5 {
        let again = pool.reserve(1, ended).await;
        assert_eq!(again.refused(), Some(Guard::ReservationHeld), "reservation {ended}");
    }
    assert_eq!(pool.state().await.reservations, 0);
}

/// A batch of places.
pub async fn several_places_are_given_in_order_as_far_as_they_go(pool: &Pool) {
    pool.open(2).await;
    for job in 1..=3 {
        pool.enqueue(job).await;
    }
    let request = Reserve {
        worker: Incarnation(1),
        reservations: (1..=3).map(ReservationId).collect(),
        windows: vec![usual()],
    };
    let answers = pool.room().reserve(&pool.at(), &request).await.expect("an answer");
    let jobs: Vec<_> =
        answers.iter().map(|answer| answer.step.clone().taken().map(|one| one.job.0)).collect();
    assert_eq!(jobs, [Some(1), Some(2), None]);
    assert_eq!(answers[2].step.refused(), Some(Guard::GlobalLimit));
}

/// Two workers at once.
pub async fn two_workers_never_get_the_same_job(pool: &Pool) {
    pool.open(1_000).await;
    for job in 1..=40 {
        pool.enqueue(job).await;
    }
    let race = |worker: u128| async move {
        let mut jobs = Vec::new();
        for number in 0..40 {
            if let Some(reserved) = pool.reserve(worker, worker * 1_000 + number).await.taken() {
                jobs.push(reserved.job.0);
            }
        }
        jobs
    };
    let (mine, yours) = tokio::join!(race(1), race(2));
    let mut all = [mine, yours].concat();
    all.sort_unstable();
    assert_eq!(all, (1..=40).collect::<Vec<_>>());
}

/// The bound on windows of one request.
pub async fn windows_beyond_the_bound_are_not_looked_at(pool: &Pool) {
    pool.open(9).await;
    let mut named: Vec<_> =
        (0..limit::RESERVE_WINDOWS).map(|number| window(&format!("q{number}"), 2)).collect();
    named.push(usual());
    pool.enqueue(1).await;
    assert_eq!(pool.reserve_from(1, 1, &named).await.refused(), Some(Guard::Queued));
    assert!(pool.reserve_from(1, 1, &named[1..]).await.taken().is_some());
}
