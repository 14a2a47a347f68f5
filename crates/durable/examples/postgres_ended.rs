//! Measures the durable room on a PostgreSQL server that holds millions of jobs that have ended (trial F6):
//! `postgres_ended URL [JOBS]`. Two schemas of its own: `fresh`, made anew, and `ended`, which is filled up to JOBS
//! (10,100,000) and stays for the next run. The same requests are timed in both, by eight clients, one by one, while a
//! transaction is held open that keeps vacuum from taking anything away.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use protocol::{
    ActorId, AttemptId, Incarnation, JobId, JobSpec, Origin, Phase, Position, ReservationId, Stamped, Step,
    Timestamp, Token, id,
};
use remora_durable::postgres::migrate::{self, Setup};
use remora_durable::postgres::{Options, PostgresRoom};
use remora_durable::{
    AcceptSuccess, AuthorizeAttempt, DispatchRead, Document, Durable, DurableReads, JobFilter, Listing,
    ResultRecord, Submit,
};
use tokio_postgres::{Client, NoTls};

const ORIGIN: Origin = Origin { actor: ActorId(1), sequence: 1, sent_after: 0 };
const CLIENTS: u64 = 8;
const TIME: Duration = Duration::from_secs(8);
const DELAYED: usize = 20_000;
const FILL: &str = include_str!("postgres_ended.sql");

type Failure = Box<dyn std::error::Error + Send + Sync>;

static NEXT: AtomicU64 = AtomicU64::new(1);

fn submit(scheduled_at: Option<Timestamp>) -> Submit {
    let job = JobId(id::v7(1_800_000_000_000 + NEXT.fetch_add(1, Ordering::Relaxed), 7));
    let spec = JobSpec { kind: "figures".to_owned(), scheduled_at, ..JobSpec::default() };
    Submit { job, spec, retry_of: None }
}

fn claim(job: JobId) -> AuthorizeAttempt {
    AuthorizeAttempt {
        job,
        attempt: AttemptId(job.0),
        worker: Incarnation(3),
        reservation: ReservationId(4),
        epoch: 1,
        checkpoint_revision: 0,
        judged: Vec::new(),
    }
}

fn success(job: JobId) -> AcceptSuccess {
    let result =
        ResultRecord { manifest: Document::Inline(vec![7; 100]), digest: [7; 32], files: 1, bytes: 1 };
    AcceptSuccess { job, attempt: AttemptId(job.0), token: Token(1), result }
}

fn all_taken<T>(answers: &[Stamped<T>]) {
    assert!(answers.iter().all(|answer| matches!(answer.step, Step::Taken(_))), "every row is taken");
}

async fn plain(url: &str) -> Result<Client, Failure> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// How long each of these took: its middle, and those that few were slower than.
fn spread(mut all: Vec<Duration>) -> String {
    all.sort_unstable();
    let at = |part: usize| all.get(all.len() * part / 100).or(all.last()).copied().unwrap_or_default();
    format!("p50 {:.2?}, p95 {:.2?}, p99 {:.2?} of {}", at(50), at(95), at(99), all.len())
}

/// What one client saw of submits, claims and ends.
type Seen = [Vec<Duration>; 3];

async fn timed<T>(into: &mut Vec<Duration>, call: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let answer = call.await;
    into.push(began.elapsed());
    answer
}

async fn one_client(room: Arc<PostgresRoom>) -> Result<Seen, Failure> {
    let until = Instant::now() + TIME;
    let mut seen = Seen::default();
    while Instant::now() < until {
        let request = submit(None);
        let job = request.job;
        all_taken(&timed(&mut seen[0], room.submit(&ORIGIN, &[request])).await?);
        all_taken(&timed(&mut seen[1], room.authorize_attempt(&ORIGIN, &[claim(job)])).await?);
        all_taken(&timed(&mut seen[2], room.accept_success(&ORIGIN, &[success(job)])).await?);
    }
    Ok(seen)
}

async fn steps(room: &Arc<PostgresRoom>) -> Result<(), Failure> {
    let clients: Vec<_> = (0..CLIENTS).map(|_| tokio::spawn(one_client(Arc::clone(room)))).collect();
    let mut all = Seen::default();
    for client in clients {
        for (all, seen) in all.iter_mut().zip(client.await??) {
            all.extend(seen);
        }
    }
    for (what, seen) in ["submit", "claim", "success"].into_iter().zip(all) {
        println!("  {what}: {}", spread(seen));
    }
    Ok(())
}

async fn lookups(room: &PostgresRoom) -> Result<(), Failure> {
    let window = submit(None).spec.window();
    let read = DispatchRead { window, from: Position { due: Timestamp::MIN, sequence: 0 }, limit: 200 };
    let filter = |phases: &[Phase], text: Option<&str>| JobFilter {
        phases: phases.to_vec(),
        text: text.map(str::to_owned),
        limit: 50,
        ..JobFilter::default()
    };
    let lists = [
        ("list of all", filter(&[], None)),
        ("list of succeeded", filter(&[Phase::Succeeded], None)),
        ("list of failed", filter(&[Phase::Failed], None)),
        ("list of queued", filter(&[Phase::Queued], None)),
        ("one step of a search that finds nothing", filter(&[], Some("nothing has this"))),
    ];
    let mut times: Vec<(&str, Vec<Duration>)> = lists.iter().map(|(name, _)| (*name, Vec::new())).collect();
    let (mut dispatch, mut counts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..20 {
        for ((_, filter), (_, times)) in lists.iter().zip(&mut times) {
            timed(times, room.list(filter)).await?;
        }
        timed(&mut dispatch, room.dispatch_read(&read)).await?;
        timed(&mut counts, room.counts()).await?;
        timed(&mut ends, room.ends(Timestamp(1_700_000_000_000))).await?;
    }
    times.extend([("dispatch read", dispatch), ("counts", counts), ("ends, all of them asked for", ends)]);
    for (what, times) in times {
        println!("  {what}: {}", spread(times));
    }
    Ok(())
}

async fn measure(url: &str, schema: &str) -> Result<(), Failure> {
    let join = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{join}schema={schema}&connections={CLIENTS}&call_timeout_ms=60000");
    let room = Arc::new(PostgresRoom::open(&url, Options::default()).await?);
    println!("{schema}:");
    steps(&room).await?;
    lookups(&room).await
}

async fn fill(client: &Client, jobs: i64) -> Result<(), Failure> {
    let found = client.query_one("SELECT coalesce(sum(jobs), 0)::bigint FROM ended.ended_count", &[]).await?;
    let mut first = found.get::<_, i64>(0) + 1;
    while first <= jobs {
        let last = jobs.min(first + 999_999);
        let text = FILL
            .replace("{schema}", "ended")
            .replace("{first}", &first.to_string())
            .replace("{last}", &last.to_string());
        client.batch_execute(&format!("BEGIN; {text} COMMIT")).await?;
        first = last + 1;
    }
    client.batch_execute("VACUUM ANALYZE").await?;
    let size = client.query_one("SELECT pg_size_pretty(pg_database_size(current_database()))", &[]).await?;
    println!("filled: {}", size.get::<_, String>(0));
    Ok(())
}

async fn delayed(room: &PostgresRoom) -> Result<(), Failure> {
    for _ in 0..DELAYED / 1_000 {
        let requests: Vec<_> = (0..1_000).map(|_| submit(Some(Timestamp(4_000_000_000_000)))).collect();
        all_taken(&room.submit(&ORIGIN, &requests).await?);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let url = words.next().ok_or("name the URL of a server")?;
    let jobs: i64 = words.next().map_or(Ok(10_100_000), |text| text.parse())?;
    let join = if url.contains('?') { '&' } else { '?' };
    let named = |schema: &str| format!("{url}{join}schema={schema}");
    // Ids of a run must not meet those of an earlier one.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    NEXT.store(u64::try_from(now.as_millis())? % 1_000_000_000_000, Ordering::Relaxed);
    migrate::down(&named("fresh")).await?;
    migrate::up(&named("fresh"), &Setup::default()).await?;
    migrate::up(&named("ended"), &Setup::default()).await?;
    let client = plain(&url).await?;
    fill(&client, jobs).await?;
    delayed(&PostgresRoom::open(&named("ended"), Options::default()).await?).await?;
    client.batch_execute("ANALYZE").await?;
    let holder = plain(&url).await?;
    holder.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM fresh.job").await?;
    for schema in ["fresh", "ended", "fresh", "ended"] {
        measure(&url, schema).await?;
    }
    holder.batch_execute("ROLLBACK").await?;
    println!("the schema `ended` stays, for the next run; `migrate down` removes it");
    Ok(())
}
