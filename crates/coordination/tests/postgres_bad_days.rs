//! The room on a PostgreSQL server of its own that has bad days, by the server's own clock.
#![cfg(all(feature = "postgres", feature = "dragonfly"))]
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod world;

use std::time::{Duration, Instant};

use protocol::{FaultKind, Guard, JobId};
use remora_coordination::postgres::{Options, PostgresRoom, doctor};
use remora_coordination::{Coordination as _, CoordinationReads as _, Wake};
use rustix::process::Signal;
use testbed::Postgres;
use testbed::postgres::Pooler;
use world::{LEASE_MS, World, arrives};

type OnPostgres = World<Postgres, PostgresRoom>;

async fn room(url: &str) -> PostgresRoom {
    PostgresRoom::open(url, Options::default()).await.unwrap()
}

async fn open(server: Postgres) -> OnPostgres {
    let room = room(&server.url()).await;
    World::over(server, room).await
}

/// A connection of the test's own.
async fn stranger(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn a_killed_server_comes_back_empty_everything_is_stale_and_running_work_goes_on_in_the_next_epoch() {
    let mut world = open(Postgres::start()).await;
    world.execute(1).await;
    world.enqueue(2).await.unwrap();
    world.server.server().kill();
    assert_ne!(world.try_renew(1).await.unwrap_err().kind, FaultKind::Corrupt);
    world.server.start_again();
    let state = world.pool_when_it_answers().await;
    assert_eq!((state.mark.epoch, state.leases, state.queued), (0, 0, 0), "a crash empties unlogged tables");
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale));
    assert_eq!(world.enqueue(3).await.unwrap(), Some(Guard::Stale));
    assert_eq!(world.release(1).await, Some(Guard::Stale));
    world.install(2).await;
    assert_eq!(world.restore(1).await, None, "running work goes on");
    assert_eq!(world.try_renew(1).await.unwrap(), None);
    world.execute(2).await;
    assert_eq!(world.room.pool().await.unwrap().leases, 2);
}

#[tokio::test]
async fn a_server_that_was_stopped_in_order_comes_back_with_all_it_held() {
    let mut world = open(Postgres::start()).await;
    world.configure(2, 60_000).await;
    world.execute(1).await;
    world.server.server().end(Signal::INT);
    world.server.start_again();
    assert_eq!(world.pool_when_it_answers().await.leases, 1);
    assert_eq!(world.try_renew(1).await.unwrap(), None);
}

#[tokio::test]
async fn whoever_keeps_the_pools_row_is_waited_for_less_than_a_third_of_a_lease() {
    let world = open(Postgres::start()).await;
    world.execute(1).await;
    let client = stranger(&world.server.url()).await;
    client.batch_execute("BEGIN; SELECT FROM remora_coordination.pool FOR UPDATE").await.unwrap();
    let began = Instant::now();
    let fault = world.try_renew(1).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_millis(LEASE_MS / 3), "{:?}", began.elapsed());
    assert_eq!(fault.kind, FaultKind::Ambiguous, "it was sent");
    assert_eq!(world.room.pool().await.unwrap().leases, 1, "reads wait for nobody");
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(world.try_renew(1).await.unwrap(), None);
}

#[tokio::test]
async fn sessions_that_the_server_ends_are_made_anew() {
    let world = open(Postgres::start()).await;
    world.execute(1).await;
    let mut wakes = world.room.wakes();
    let client = stranger(&world.server.url()).await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'remora'";
    client.batch_execute(end).await.unwrap();
    arrives(&mut wakes, |wake| *wake == Wake::Epoch).await;
    assert_eq!(world.pool_when_it_answers().await.leases, 1);
    let renewed = async { while world.try_renew(1).await.is_err() {} };
    tokio::time::timeout(Duration::from_secs(20), renewed).await.unwrap();
}

#[tokio::test]
async fn an_older_moment_than_one_seen_before_is_stale() {
    let world = open(Postgres::start()).await;
    world.execute(1).await;
    let client = stranger(&world.server.url()).await;
    client.batch_execute("UPDATE remora_coordination.pool SET revision = 2").await.unwrap();
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale));
}

#[tokio::test]
async fn a_copy_of_the_pool_in_another_table_is_an_empty_store() {
    let world = open(Postgres::start()).await;
    world.execute(1).await;
    let client = stranger(&world.server.url()).await;
    client.batch_execute("UPDATE remora_coordination.pool SET home = 1").await.unwrap();
    assert_eq!(world.room.pool().await.unwrap().mark.epoch, 0, "as pg_restore would bring it");
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale));
    world.install(2).await;
    assert_eq!(world.room.pool().await.unwrap().leases, 0, "nothing of it is believed");
}

#[tokio::test]
async fn wake_ups_reach_other_processes_also_a_burst_of_ten_thousand() {
    let server = Postgres::start();
    let (one, other) = (room(&server.url()).await, room(&server.url()).await);
    let stranger = room(&format!("{}?pool=another", server.url())).await;
    let (mut heard, mut elsewhere) = (other.wakes(), stranger.wakes());
    let jobs: Vec<_> = (1..=10_000).map(JobId).collect();
    one.nudge(&jobs).await.unwrap();
    let mut named = std::collections::BTreeSet::new();
    let all = async {
        while named.len() < jobs.len() {
            if let Wake::Nudged(some) = heard.recv().await.unwrap() {
                named.extend(some);
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all).await.unwrap();
    assert!(elsewhere.try_recv().is_err(), "another pool hears nothing of it");
}

#[tokio::test]
async fn a_pooler_in_transaction_mode_is_found_out_and_works() {
    let server = Postgres::start();
    let pooler = Pooler::start(&server, "transaction");
    let room = room(&pooler.url()).await;
    let findings = doctor(&room).await;
    assert!(
        findings.iter().any(|one| one.name == "pooling" && one.text.contains("transaction mode")),
        "{findings:?}"
    );
    let world = World::over(server, room).await;
    world.execute(1).await;
    assert_eq!(world.try_renew(1).await.unwrap(), None);
    assert_eq!(world.release(1).await, None);
}

#[tokio::test]
async fn the_doctor_finds_a_sound_server_sound_and_names_what_never_vacuums() {
    let world = open(Postgres::start_with(&[("autovacuum", "off")])).await;
    let findings = doctor(&world.room).await;
    let named =
        |name| findings.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("{name}: {findings:?}"));
    assert!(named("autovacuum").text.starts_with("off"), "{findings:?}");
    for name in ["server", "role", "transactions", "size", "pooling", "wakes"] {
        assert_eq!(named(name).level, protocol::Level::Ok, "{findings:?}");
    }
}

/// Bytes of all tables and their indexes.
async fn size(client: &tokio_postgres::Client) -> i64 {
    let text = "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n \
                ON n.oid = relnamespace WHERE nspname = 'remora_coordination' AND relkind = 'r'";
    client.query_one(text, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_jobs_pass_through_and_the_tables_stop_growing() {
    let world = open(Postgres::start_with(&[("autovacuum_naptime", "1s")])).await;
    let client = stranger(&world.server.url()).await;
    let mut sizes = Vec::new();
    for thousand in 0..10_u128 {
        for hundred in 0..10_u128 {
            let jobs = (1..=100).map(|job| thousand * 1_000 + hundred * 100 + job);
            world.cycle(&jobs.collect::<Vec<_>>()).await;
        }
        sizes.push(size(&client).await);
    }
    let (half, whole) = (sizes[4], sizes[9]);
    assert!(whole < 24 * 1024 * 1024, "{sizes:?}");
    assert!(whole < half * 2, "{sizes:?}");
    let state = world.room.pool().await.unwrap();
    assert_eq!((state.leases, state.reservations, state.queued), (0, 0, 0));
}
