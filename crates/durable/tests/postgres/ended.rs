//! Jobs that have ended lie in the same tables as those that have not: no daily request may walk over them (trial F6).
//! What millions of them cost is measured by the example `postgres_ended`.

use protocol::{Phase, Position, Timestamp};
use remora_durable::postgres::migrate;
use remora_durable::postgres::{Options, PostgresRoom};
use remora_durable::{DispatchRead, Durable, DurableReads, JobFilter, Listing};
use tokio_postgres::Client;

use crate::help::{ORIGIN, claim, client, fresh, schema, submit, success, taken};

const ENDED: u32 = 30_000;
const FILL: &str = include_str!("../../examples/postgres_ended.sql");

async fn fill(client: &Client, name: &str) {
    let text = FILL.replace("{schema}", name).replace("{first}", "1").replace("{last}", &ENDED.to_string());
    client.batch_execute(&format!("BEGIN; {text} COMMIT")).await.unwrap();
    for table in ["job", "job_spec", "attempt", "attempt_error", "result", "ended", "ended_count"] {
        client.batch_execute(&format!("VACUUM ANALYZE {name}.{table}")).await.unwrap();
    }
}

/// Rows that were read so far of the tables that hold ended jobs, by walks and through indexes.
async fn rows_read(client: &Client, name: &str) -> i64 {
    let rows = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables \
                WHERE schemaname = $1";
    client.query_one(rows, &[&name]).await.unwrap().get(0)
}

/// One job from its submission to its end.
async fn life(room: &PostgresRoom, number: u128) {
    assert!(taken(&room.submit(&ORIGIN, &[submit(number)]).await.unwrap()[0].step));
    let read = DispatchRead {
        window: submit(number).spec.window(),
        from: Position { due: Timestamp::MIN, sequence: 0 },
        limit: 200,
    };
    assert_eq!(room.dispatch_read(&read).await.unwrap().len(), 1);
    assert_eq!(room.waiting_windows().await.unwrap().len(), 1);
    assert!(room.oldest_waiting().await.unwrap().is_some());
    assert!(taken(&room.authorize_attempt(&ORIGIN, &[claim(number, number)]).await.unwrap()[0].step));
    assert!(taken(&room.accept_success(&ORIGIN, &[success(number, number)]).await.unwrap()[0].step));
}

/// Sessions write down what they read when they end.
async fn until_sessions_ended(client: &Client, name: &str) {
    let left =
        "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%' || $1 || '%'";
    while client.query_one(left, &[&name]).await.unwrap().get::<_, i64>(0) > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f6_no_daily_request_and_no_list_walks_over_the_jobs_that_have_ended() {
    let (room, url) = fresh().await;
    drop(room);
    let (watcher, holder, name) = (client(&url).await, client(&url).await, schema(&url));
    fill(&watcher, name).await;
    // Whoever holds a transaction open keeps vacuum from taking away what changes leave behind.
    holder
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
        .await
        .unwrap();
    let room = PostgresRoom::open(&url, Options::default()).await.unwrap();
    let before = rows_read(&watcher, name).await;
    for number in 1..=20 {
        life(&room, number << 100).await;
    }
    let counts = room.counts().await.unwrap();
    let ended: u64 = counts.iter().map(|count| count.jobs).sum();
    assert_eq!(ended, u64::from(ENDED) + 20);
    for phases in [vec![], vec![Phase::Succeeded], vec![Phase::Failed], vec![Phase::Queued]] {
        room.list(&JobFilter { phases, limit: 50, ..JobFilter::default() }).await.unwrap();
    }
    drop(room);
    until_sessions_ended(&watcher, name).await;
    let read = rows_read(&watcher, name).await - before;
    assert!((200..10_000).contains(&read), "{read} rows were read beside {ENDED} that had ended");
    holder.batch_execute("ROLLBACK").await.unwrap();
    migrate::down(&url).await.unwrap();
}
