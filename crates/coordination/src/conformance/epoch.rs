//! Rule 9: installing, accounting, opening, losing.

use protocol::{Guard, InstallationId, Step};

use super::pool::{HERE, LEASE, Pool};

/// An empty store is epoch 0 and says stale to everybody.
pub async fn an_empty_store_is_epoch_zero_and_everything_is_stale(pool: &Pool) {
    let state = pool.state().await;
    assert_eq!((state.mark.epoch, state.open), (0, false));
    for epoch in [0, 1] {
        pool.believe(epoch);
        assert_eq!(pool.account(&[1]).await.refused(), Some(Guard::Stale));
        assert_eq!(pool.settle(1).await.refused(), Some(Guard::Stale));
        let opened = pool.room().open_epoch(&pool.at()).await.expect("an answer");
        assert_eq!(opened.step.refused(), Some(Guard::Stale));
        let registered = pool.room().register(&pool.at(), &super::pool::serving(1)).await.expect("an answer");
        assert_eq!(registered.step.refused(), Some(Guard::Stale));
    }
}

/// Installing is idempotent and never goes down.
pub async fn an_epoch_is_installed_when_it_is_higher(pool: &Pool) {
    pool.open(2).await;
    pool.execute(1, 1).await;
    let state = pool.room().install_epoch(1, HERE).await.expect("an answer");
    assert!(state.open && state.leases == 1, "the same changes nothing");
    let state = pool.room().install_epoch(0, HERE).await.expect("an answer");
    assert_eq!((state.mark.epoch, state.leases), (1, 1), "a lower one changes nothing");
    let state = pool.room().install_epoch(7, HERE).await.expect("an answer");
    assert_eq!((state.mark.epoch, state.open, state.leases), (7, false, 0), "a higher one starts empty");
    assert_eq!(pool.renew(1, 1, 1).await.refused(), Some(Guard::Stale));
}

/// Two installations that name one pool are told apart.
pub async fn a_pool_is_claimed_with_its_first_epoch_and_another_installation_changes_nothing(pool: &Pool) {
    let stranger = InstallationId(u128::MAX);
    assert_eq!(pool.state().await.installation, None, "an empty store is nobody's");
    pool.open(2).await;
    pool.execute(1, 1).await;
    let state = pool.state().await;
    assert_eq!(state.installation, Some(HERE));
    for epoch in [1, 7] {
        let answer = pool.room().install_epoch(epoch, stranger).await.expect("an answer");
        assert_eq!((answer.mark.epoch, answer.installation), (1, Some(HERE)), "asked for {epoch}");
        assert_eq!((answer.open, answer.leases), (true, 1), "the pool goes on");
    }
    let raised = pool.room().install_epoch(2, HERE).await.expect("an answer");
    assert_eq!((raised.mark.epoch, raised.installation), (2, Some(HERE)));
    pool.lose().await;
    assert_eq!(pool.state().await.installation, None, "a loss leaves nobody");
    let claimed = pool.room().install_epoch(3, stranger).await.expect("an answer");
    assert_eq!((claimed.mark.epoch, claimed.installation), (3, Some(stranger)));
}

/// A loss leaves nothing.
pub async fn a_loss_leaves_nothing(pool: &Pool) {
    pool.open(3).await;
    pool.execute(1, 1).await;
    pool.enqueue(2).await;
    pool.reserve(1, 2).await;
    pool.enqueue(3).await;
    pool.notice(1, 1).await;
    pool.lose().await;
    let state = pool.state().await;
    assert_eq!((state.mark.epoch, state.queued, state.reservations, state.leases), (0, 0, 0, 0));
    assert_eq!(pool.room().holdings(None, 9).await.expect("an answer").jobs, []);
    assert_eq!(pool.room().workers().await.expect("an answer"), []);
    assert_eq!(pool.renew(1, 1, 1).await.refused(), Some(Guard::Stale));
}

/// Batches may be repeated; what has a lease is skipped.
pub async fn accounting_is_repeatable_and_skips_what_has_a_lease(pool: &Pool) {
    pool.install(2, 9).await;
    pool.account(&[1, 2]).await;
    pool.restore(1, 1, 1).await;
    pool.account(&[1, 2, 3]).await;
    pool.account(&[1, 2, 3]).await;
    let state = pool.state().await;
    assert_eq!((state.leases, state.unaccounted), (1, 2));
}

/// Guard `opening`, turned around: an open pool accounts for nothing more.
pub async fn an_open_pool_refuses_to_account(pool: &Pool) {
    pool.open(9).await;
    assert_eq!(pool.account(&[1]).await.refused(), Some(Guard::Opening));
    pool.open_epoch().await;
    assert_eq!(pool.state().await.unaccounted, 0, "opening again is taken and changes nothing");
}

/// Reserve counts the set.
pub async fn unaccounted_attempts_take_places_until_they_end_or_the_grace_does(pool: &Pool) {
    pool.install(2, 2).await;
    pool.account(&[1, 2]).await;
    pool.open_epoch().await;
    pool.enqueue(7).await;
    pool.enqueue(8).await;
    assert_eq!(pool.reserve(1, 1).await.refused(), Some(Guard::GlobalLimit));
    assert_eq!(pool.settle(1).await, Step::Taken(()));
    assert_eq!(pool.settle(1).await, Step::Taken(()), "again");
    assert!(pool.reserve(1, 1).await.taken().is_some());
    assert_eq!(pool.reserve(1, 2).await.refused(), Some(Guard::GlobalLimit));
    pool.advance(LEASE).await;
    let state = pool.state().await;
    assert_eq!((state.unaccounted, state.grace_over), (0, true));
    assert!(pool.reserve(1, 2).await.taken().is_some());
}

/// The grace begins with the epoch.
pub async fn the_grace_begins_when_the_epoch_is_installed(pool: &Pool) {
    pool.install(2, 2).await;
    pool.advance(LEASE / 2).await;
    pool.open_epoch().await;
    let state = pool.state().await;
    assert!(!state.grace_over && state.open);
    assert_eq!(u128::from(state.epoch_age_ms), (LEASE / 2).as_millis());
    pool.advance(LEASE / 2).await;
    assert!(pool.state().await.grace_over);
}

/// Answers are ordered.
pub async fn marks_grow_with_every_effective_step(pool: &Pool) {
    pool.open(9).await;
    let mut last = pool.state().await.mark;
    for job in 1..=5 {
        pool.enqueue(job).await;
        let now = pool.state().await.mark;
        assert!(now > last, "{now:?} after {last:?}");
        last = now;
    }
    pool.room().install_epoch(2, HERE).await.expect("an answer");
    assert!(pool.state().await.mark > last, "a new epoch is after every older one");
}
