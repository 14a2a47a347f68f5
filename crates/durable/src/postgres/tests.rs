//! Every statement against a real server: it prepares, and what is hot walks over no table.

use protocol::JobId;
use tokio_postgres::{Client, NoTls};

use super::migrate::{self, Setup};
use super::session;
use super::statements::Statements;

/// Statements that people wait for, or that add up what has no order.
const NOT_HOT: [&str; 2] = ["counts", "fold_counts"];

async fn migrated(schema: &str) -> (Client, String) {
    let url = testbed::postgres::shared();
    let url_of_schema = format!("{url}?sslmode=disable&schema={schema}");
    migrate::up(&url_of_schema, &Setup::default()).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    session::set_up(&client, std::time::Duration::from_secs(60)).await.unwrap();
    (client, url_of_schema)
}

/// What the server would do with the statement, whatever its parameters are.
async fn plan(client: &Client, name: &str, text: &str) -> String {
    let params =
        client.prepare(text).await.unwrap_or_else(|error| panic!("{name}: {error:?}")).params().len();
    client.batch_execute(&format!("PREPARE {name} AS {text}")).await.unwrap();
    let nulls = if params == 0 { String::new() } else { format!("({})", vec!["NULL"; params].join(", ")) };
    let rows = client.query(&format!("EXPLAIN EXECUTE {name}{nulls}"), &[]).await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

fn walks(plan: &str) -> Vec<&str> {
    let small = ["on pool", "on token"];
    plan.lines()
        .filter(|line| line.contains("Seq Scan") && !small.iter().any(|one| line.contains(one)))
        .collect()
}

#[tokio::test]
async fn every_statement_prepares_and_no_hot_one_walks_over_a_table_that_was_empty_when_it_was_planned() {
    let schema = format!("plans_{}", std::process::id());
    let (client, url) = migrated(&schema).await;
    // As after a vacuum of empty tables: the worst moment to plan in.
    let tables = client.query("SELECT relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relkind = 'r'", &[&schema]).await.unwrap();
    for table in tables {
        client
            .batch_execute(&format!("VACUUM ANALYZE {schema}.{}", table.get::<_, String>(0)))
            .await
            .unwrap();
    }
    let statements = Statements::new(&schema);
    for (name, text) in statements.all() {
        let plan = plan(&client, name, text).await;
        let walked = walks(&plan);
        assert!(NOT_HOT.contains(&name) || walked.is_empty(), "{name}: {walked:?}\n{plan}");
    }
    migrate::down(&url).await.unwrap();
}

#[tokio::test]
async fn an_update_of_a_job_stays_on_its_page() {
    let schema = format!("hot_{}", std::process::id());
    let (client, url) = migrated(&schema).await;
    let jobs: Vec<u128> = (1..=50).collect();
    for job in &jobs {
        let id = format!("{:032x}", JobId(*job).0);
        let insert =
            "(job, kind, queue, priority, max_attempts, retry_base_ms, retry_cap_ms, created_at, due_at)";
        let text = format!("INSERT INTO {schema}.job {insert} VALUES ('{id}', 'k', 'q', 2, 25, 0, 0, 0, 0)");
        client.batch_execute(&text).await.unwrap();
        for _ in 0..4 {
            let text = format!(
                "UPDATE {schema}.job SET revision = revision + 1, token = token + 1, phase = 'retry_wait', due_at = 7 WHERE job = '{id}'"
            );
            client.batch_execute(&text).await.unwrap();
        }
    }
    // Counters reach the statistics with the next flush of this session.
    client.query("SELECT pg_stat_force_next_flush()", &[]).await.unwrap();
    let stats =
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'job'";
    let row = client.query_one(stats, &[&schema]).await.unwrap();
    let (all, hot): (i64, i64) = (row.get(0), row.get(1));
    assert_eq!(all, 200);
    assert!(hot * 10 >= all * 9, "{hot} of {all}");
    migrate::down(&url).await.unwrap();
}
