//! The schema of the room on PostgreSQL: who makes it, who may use it, what is refused.
#![cfg(feature = "postgres")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::sync::atomic::{AtomicU64, Ordering};

use remora_coordination::postgres::{OpenError, Options, PostgresRoom};
use remora_coordination::{Coordination as _, CoordinationReads as _};
use tokio_postgres::{Client, NoTls};

/// A name that no other test has.
fn fresh() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("s{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst))
}

fn url(schema: &str) -> String {
    format!("{}?sslmode=disable&schema={schema}", testbed::postgres::shared())
}

async fn open(url: &str) -> Result<PostgresRoom, OpenError> {
    PostgresRoom::open(url, Options::default()).await
}

async fn client() -> Client {
    let (client, connection) = tokio_postgres::connect(&testbed::postgres::shared(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_processes_make_a_schema_at_once_and_all_can_use_it() {
    let schema = fresh();
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let url = url(&schema);
            tokio::spawn(async move { open(&url).await.unwrap().pool().await.unwrap() })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().mark.epoch, 0);
    }
    client().await.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await.unwrap();
}

#[tokio::test]
async fn all_that_holds_state_is_unlogged() {
    let (schema, client) = (fresh(), client().await);
    drop(open(&url(&schema)).await.unwrap());
    let text = "SELECT relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
                WHERE nspname = $1 AND relkind = 'r' AND relpersistence <> 'u'";
    let logged: Vec<String> =
        client.query(text, &[&schema]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(logged, ["made"]);
    client.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await.unwrap();
}

#[tokio::test]
async fn a_schema_that_holds_something_else_stays_as_it_is() {
    let (schema, client) = (fresh(), client().await);
    client
        .batch_execute(&format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.job (a int)"))
        .await
        .unwrap();
    let error = open(&url(&schema)).await.unwrap_err();
    assert!(error.to_string().contains("belongs to something else"), "{error}");
    client.batch_execute(&format!("TABLE {schema}.job; DROP SCHEMA {schema} CASCADE")).await.unwrap();
}

#[tokio::test]
async fn what_an_older_release_made_is_replaced_and_what_a_newer_one_made_is_refused() {
    let (schema, client) = (fresh(), client().await);
    let room = open(&url(&schema)).await.unwrap();
    room.install_epoch(4, protocol::InstallationId(1)).await.unwrap();
    drop(open(&url(&schema)).await.unwrap());
    assert_eq!(room.pool().await.unwrap().mark.epoch, 4, "the same release changes nothing");
    client.batch_execute(&format!("UPDATE {schema}.made SET version = 0")).await.unwrap();
    let again = open(&url(&schema)).await.unwrap();
    assert_eq!(again.pool().await.unwrap().mark.epoch, 0, "it is a loss, and nothing worse");
    assert_eq!(again.install_epoch(5, protocol::InstallationId(1)).await.unwrap().mark.epoch, 5);
    client.batch_execute(&format!("UPDATE {schema}.made SET version = 9")).await.unwrap();
    let error = open(&url(&schema)).await.unwrap_err();
    assert!(error.to_string().contains("made by a newer release (version 9"), "{error}");
    client.batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).await.unwrap();
}

#[tokio::test]
async fn a_role_for_the_daily_work_makes_nothing_and_does_everything_else() {
    let (schema, role, client) = (fresh(), fresh(), client().await);
    client
        .batch_execute(&format!("CREATE ROLE {role} LOGIN; REVOKE CREATE ON DATABASE postgres FROM PUBLIC"))
        .await
        .unwrap();
    let theirs = url(&schema).replace("postgres@", &format!("{role}@"));
    let error = open(&theirs).await.unwrap_err();
    assert!(error.to_string().contains("let a role that may create tables open it once"), "{error}");
    drop(open(&url(&schema)).await.unwrap());
    let grants = format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}"
    );
    client.batch_execute(&grants).await.unwrap();
    let room = open(&theirs).await.unwrap();
    assert_eq!(room.install_epoch(1, protocol::InstallationId(1)).await.unwrap().mark.epoch, 1);
    room.lose().await.unwrap();
    client.batch_execute(&format!("DROP SCHEMA {schema} CASCADE; DROP ROLE {role}")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_password() {
    let port = testbed::free_port();
    let error = open(&format!("postgres://u:s3cret@127.0.0.1:{port}/d")).await.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains(&format!("127.0.0.1:{port}/d")) && !text.contains("s3cret"), "{text}");
}
