//! The room on a real server that has bad days: each test has a server of its own, and the server's own clock.
#![cfg(feature = "dragonfly")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod world;

use std::time::{Duration, Instant};

use protocol::{FaultKind, Guard};
use remora_coordination::dragonfly::{DragonflyRoom, Options};
use remora_coordination::{Coordination as _, CoordinationReads as _, Wake};
use testbed::Redis;
use world::{LEASE_MS, World};

#[tokio::test]
async fn a_frozen_server_is_waited_for_less_than_a_third_of_a_lease_and_its_late_answer_is_nobodys() {
    let mut world = World::open(Redis::start()).await;
    // Longer than usual: a busy machine must not be taken for a late end.
    world.configure(2, 2 * LEASE_MS).await;
    world.execute(1).await;
    world.server.server().freeze();
    let began = Instant::now();
    let fault = world.try_renew(1).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_millis(2 * LEASE_MS / 3), "{:?}", began.elapsed());
    assert_eq!(fault.kind, FaultKind::Ambiguous, "it was sent");
    let fault = world.room.pool().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable, "there was no connection to send it by");
    world.server.server().thaw();
    for _ in 0..3 {
        assert_eq!(world.pool_when_it_answers().await.leases, 1);
        assert!(world.try_renew(1).await.unwrap().is_none(), "each answer is its own question's");
    }
}

#[tokio::test]
async fn a_server_that_was_killed_and_comes_back_empty_is_stale_until_an_epoch_is_installed() {
    let mut world = World::open(Redis::start()).await;
    world.execute(1).await;
    world.server.server().kill();
    let fault = world.try_renew(1).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Ambiguous, "it cannot know whether it was sent before the end");
    assert_eq!(world.try_renew(1).await.unwrap_err().kind, FaultKind::Unreachable);
    world.server.start_again();
    assert_eq!(world.pool_when_it_answers().await.mark.epoch, 0);
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale));
    world.install(2).await;
    assert_eq!(world.restore(1).await, None, "running work goes on");
    assert!(world.try_renew(1).await.unwrap().is_none());
}

#[tokio::test]
async fn an_old_snapshot_that_comes_back_is_an_empty_store() {
    let mut world = World::open(Redis::start()).await;
    world.execute(1).await;
    assert!(world.server.say("SAVE").starts_with("+OK"));
    world.execute(2).await;
    world.server.start_again();
    let state = world.pool_when_it_answers().await;
    assert_eq!(
        (state.mark.epoch, state.leases),
        (0, 0),
        "another process answers, with what it read from disk"
    );
    assert!(world.server.say("DBSIZE") != ":0\r\n", "the old keys are there");
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale));
    // Whoever helps an epoch of the same number to open finds the same.
    world.install(1).await;
    let state = world.room.pool().await.unwrap();
    assert_eq!((state.mark.epoch, state.leases, state.queued), (1, 0, 0));
    world.install(2).await;
    assert_eq!(
        world.try_renew(1).await.unwrap(),
        Some(Guard::LeaseLive),
        "nothing of the snapshot is believed"
    );
    assert!(!world.server.say("KEYS *:1:*").contains(":leases"), "nor left");
}

#[tokio::test]
async fn an_old_snapshot_is_seen_by_its_revision_where_the_server_does_not_tell_who_it_is() {
    let server = Redis::start();
    let user = "ACL SETUSER blind on >blind ~* &* +@all -info";
    assert!(server.say(user).starts_with("+OK"));
    let url = server.url().replace("redis://", "redis://blind:blind@");
    let mut world = World::open_at(server, &url).await;
    world.execute(1).await;
    assert!(world.server.say("SAVE").starts_with("+OK"));
    world.execute(2).await;
    world.server.start_again();
    assert!(world.server.say(user).starts_with("+OK"), "users are not in snapshots");
    let state = world.pool_when_it_answers().await;
    assert_eq!((state.mark.epoch, state.leases), (1, 1), "the agents compare its mark");
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale), "an older moment than one seen before");
}

#[tokio::test]
async fn flushall_is_a_loss_and_a_forgotten_script_is_loaded_again() {
    let world = World::open(Redis::start()).await;
    world.execute(1).await;
    assert!(world.server.say("SCRIPT FLUSH").starts_with("+OK"));
    assert!(world.try_renew(1).await.unwrap().is_none());
    assert!(world.server.say("FLUSHALL").starts_with("+OK"));
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale));
    assert_eq!(world.room.pool().await.unwrap().mark.epoch, 0);
    world.install(2).await;
    assert_eq!(world.restore(1).await, None);
}

#[tokio::test]
async fn a_full_memory_stops_new_work_and_never_running_work() {
    let world = World::open(Redis::start()).await;
    world.execute(1).await;
    world.enqueue(2).await.unwrap();
    assert!(world.server.say("CONFIG SET maxmemory 1mb").starts_with("+OK"), "less than it uses already");
    let fault = world.enqueue(3).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Ambiguous);
    assert!(format!("{:?}", std::error::Error::source(&fault)).contains("OOM"), "{fault:?}");
    assert!(world.try_renew(1).await.unwrap().is_none(), "leases are renewed");
    assert_eq!(world.reserve(2).await, None, "what is queued is served");
    assert_eq!(world.activate(2).await, None);
    assert_eq!(world.release(2).await, None);
    assert_eq!(world.room.pool().await.unwrap().leases, 1);
    assert!(world.server.say("CONFIG SET maxmemory 0").starts_with("+OK"));
    assert_eq!(world.enqueue(3).await.unwrap(), None, "and goes on");
}

#[tokio::test]
async fn a_server_that_may_evict_any_key_is_refused_unless_the_url_allows_it() {
    let server = Redis::start_with(
        &testbed::redis::program(),
        &["--maxmemory-policy", "allkeys-lru", "--maxmemory", "100mb"],
    );
    let room = DragonflyRoom::open(&server.url(), Options::default()).await.unwrap();
    let fault = room.pool().await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable);
    let why = std::error::Error::source(&fault).unwrap().to_string();
    assert!(why.contains("allkeys-lru") && why.contains("noeviction"), "{why}");
    let allowed =
        DragonflyRoom::open(&format!("{}?eviction=allow", server.url()), Options::default()).await.unwrap();
    assert_eq!(allowed.pool().await.unwrap().mark.epoch, 0);
}

#[tokio::test]
async fn a_key_that_was_evicted_makes_the_pool_stale_or_is_a_lost_hint() {
    let world = World::open(Redis::start()).await;
    world.execute(1).await;
    let pool = "rm:{remora:default}";
    assert!(world.server.say(&format!("DEL {pool}:1:order")).starts_with(":1"));
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale));
    world.install(2).await;
    world.enqueue(2).await.unwrap();
    assert!(world.server.say(&format!("DEL {pool}:2:entries")).starts_with(":1"));
    assert_eq!(world.reserve(2).await, Some(Guard::Queued), "an entry without its row is passed over");
    assert!(world.enqueue(2).await.unwrap().is_none(), "and the dispatcher offers it again");
}

#[tokio::test]
async fn a_server_that_was_made_a_replica_is_left_at_once() {
    let world = World::open(Redis::start()).await;
    world.execute(1).await;
    let other = Redis::start();
    assert!(world.server.say(&format!("REPLICAOF 127.0.0.1 {}", other.port())).starts_with("+OK"));
    let fault = world.room.pool().await.unwrap_err();
    assert_ne!(fault.kind, FaultKind::Corrupt);
    let fault = world.try_renew(1).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable, "no replica is spoken to: {fault:?}");
    assert!(world.server.say("REPLICAOF NO ONE").starts_with("+OK"));
    world.pool_when_it_answers().await;
}

#[tokio::test]
async fn whoever_opens_an_epoch_deletes_what_the_older_ones_left() {
    let world = World::open(Redis::start()).await;
    world.execute(1).await;
    world.install_only(2).await;
    world.install_only(3).await;
    assert!(world.server.say("KEYS *:1:*").contains(":leases"), "while it is opening it is still there");
    world.open_epoch(3).await;
    let left = world.server.say("KEYS *");
    assert!(!left.contains(":1:") && !left.contains(":2:"), "{left}");
    assert_eq!(world.server.say("HEXISTS rm:{remora:default}:epoch old"), ":0\r\n");
}

#[tokio::test]
async fn wakes_reach_other_processes_and_come_back_after_a_restart() {
    let mut world = World::open(Redis::start()).await;
    let other = DragonflyRoom::open(&world.server.url(), Options::default()).await.unwrap();
    let mut wakes = other.wakes();
    world.enqueue(1).await.unwrap();
    world::arrives(&mut wakes, |wake| matches!(wake, Wake::Queued(_))).await;
    world.server.start_again();
    // The subscription that stands again tells to look at the epoch.
    world::arrives(&mut wakes, |wake| *wake == Wake::Epoch).await;
    world.pool_when_it_answers().await;
    world.room.nudge(&[protocol::JobId(7)]).await.unwrap();
    world::arrives(&mut wakes, |wake| *wake == Wake::Nudged(vec![protocol::JobId(7)])).await;
}

#[tokio::test]
async fn a_request_that_is_given_up_leaves_no_answer_for_the_next_one() {
    let mut world = World::open(Redis::start()).await;
    world.execute(1).await;
    for _ in 0..20 {
        world.server.server().freeze();
        let given_up = tokio::time::timeout(Duration::from_millis(5), world.try_renew(1)).await;
        assert!(given_up.is_err());
        world.server.server().thaw();
        assert_eq!(world.pool_when_it_answers().await.leases, 1);
    }
}

#[tokio::test]
async fn the_pools_own_lease_length_sets_the_time_limit() {
    let mut world = World::open(Redis::start()).await;
    world.configure(2, 600).await;
    world.server.server().freeze();
    let began = Instant::now();
    world.room.pool().await.unwrap_err();
    assert!(began.elapsed() < Duration::from_millis(700), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_clock_of_the_server_that_goes_back_a_little_stands_still() {
    let world = World::open(Redis::start()).await;
    world.execute(1).await;
    let now = world.server.say("GET rm:{remora:default}:1:now");
    let now: i64 = now.lines().nth(1).unwrap().parse().unwrap();
    let ahead = now + i64::try_from(LEASE_MS).unwrap() / 2;
    assert!(world.server.say(&format!("SET rm:{{remora:default}}:1:now {ahead}")).starts_with("+OK"));
    assert!(world.try_renew(1).await.unwrap().is_none());
    let after = world.server.say("GET rm:{remora:default}:1:now");
    assert_eq!(after.lines().nth(1).unwrap().parse(), Ok(ahead), "it never goes back");
    let far = now + 10 * i64::try_from(LEASE_MS).unwrap();
    assert!(world.server.say(&format!("SET rm:{{remora:default}}:1:now {far}")).starts_with("+OK"));
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale), "by more than a lease: a lost store");
    assert_eq!(world.room.pool().await.unwrap().mark.epoch, 0);
}
