//! Wake-ups: hints, but in a quiet test they arrive.

use std::time::Duration;

use protocol::JobId;
use tokio::sync::broadcast::Receiver;

use super::pool::{HERE, LEASE, Pool, serving, usual};
use crate::Wake;

/// Waits for a wake-up, whatever else comes before it.
async fn arrives(wakes: &mut Receiver<Wake>, expected: Wake) {
    let wait = async {
        loop {
            match wakes.recv().await {
                Ok(wake) if wake == expected => return,
                Ok(_) => {}
                Err(error) => panic!("{expected:?} did not come: {error}"),
            }
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(10), wait).await;
    assert!(waited.is_ok(), "{expected:?} did not come");
}

/// Work and places.
pub async fn whoever_waits_for_work_or_a_place_is_woken(pool: &Pool) {
    pool.open(9).await;
    let mut wakes = pool.room().wakes();
    pool.enqueue(1).await;
    arrives(&mut wakes, Wake::Queued(usual())).await;
    pool.reserve(1, 1).await;
    pool.hand_back(1, 1, 1).await;
    arrives(&mut wakes, Wake::Freed).await;
    arrives(&mut wakes, Wake::Nudged(vec![JobId(1)])).await;
    pool.execute(2, 1).await;
    pool.advance(LEASE).await;
    pool.expire(9).await;
    arrives(&mut wakes, Wake::Freed).await;
    pool.execute(4, 1).await;
    pool.release(4, 4).await;
    arrives(&mut wakes, Wake::Freed).await;
    pool.enqueue(3).await;
    pool.reserve(1, 3).await;
    pool.advance(LEASE).await;
    pool.drop_overdue(9).await;
    arrives(&mut wakes, Wake::Nudged(vec![JobId(3)])).await;
    pool.configure(9, 10, &[]).await;
    arrives(&mut wakes, Wake::Freed).await;
}

/// News of jobs.
pub async fn news_of_jobs_is_passed_on(pool: &Pool) {
    pool.open(9).await;
    let mut wakes = pool.room().wakes();
    pool.room().nudge(&[JobId(8), JobId(9)]).await.expect("an answer");
    arrives(&mut wakes, Wake::Nudged(vec![JobId(8), JobId(9)])).await;
    pool.execute(1, 1).await;
    pool.notice(1, 1).await;
    arrives(&mut wakes, Wake::CancelNotice(JobId(1))).await;
    pool.report(1, 1, 1, 1).await;
    arrives(&mut wakes, Wake::Progress(JobId(1))).await;
}

/// News of the pool.
pub async fn news_of_workers_and_epochs_is_passed_on(pool: &Pool) {
    pool.open(9).await;
    let mut wakes = pool.room().wakes();
    pool.register(&serving(3)).await;
    arrives(&mut wakes, Wake::Served).await;
    pool.lose().await;
    arrives(&mut wakes, Wake::Epoch).await;
    pool.room().install_epoch(2, HERE).await.expect("an answer");
    arrives(&mut wakes, Wake::Epoch).await;
}
