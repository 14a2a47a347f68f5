//! Measures the durable room on a PostgreSQL server: `postgres_figures URL [JOBS]`. It makes a schema of its own,
//! `figures`, and removes it. JOBS (1,000,000) is how many wait when lookups are measured.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use protocol::{
    ActorId, AttemptId, Incarnation, JobId, JobSpec, Origin, Position, ReservationId, Step, Timestamp, Token,
    id,
};
use remora_durable::postgres::migrate::{self, Setup};
use remora_durable::postgres::{Options, PostgresRoom};
use remora_durable::{
    AcceptSuccess, AuthorizeAttempt, DispatchRead, Document, Durable, DurableReads, Listing, ResultRecord,
    Submit,
};

const ORIGIN: Origin = Origin { actor: ActorId(1), sequence: 1, sent_after: 0 };
const CLIENTS: u64 = 50;
const TIME: Duration = Duration::from_secs(4);

type Failure = Box<dyn std::error::Error + Send + Sync>;

static NEXT: AtomicU64 = AtomicU64::new(1);

fn job() -> JobId {
    JobId(id::v7(1_790_000_000_000 + NEXT.fetch_add(1, Ordering::Relaxed), 7))
}

fn submit() -> Submit {
    let args = format!("{{\"path\": \"{}\"}}", "x".repeat(100));
    Submit {
        job: job(),
        spec: JobSpec { kind: "figures".to_owned(), args, ..JobSpec::default() },
        retry_of: None,
    }
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
    let manifest = Document::Inline(vec![7; 200]);
    let result = ResultRecord { manifest, digest: [7; 32], files: 1, bytes: 1 };
    AcceptSuccess { job, attempt: AttemptId(job.0), token: Token(1), result }
}

fn all_taken<T>(answers: &[protocol::Stamped<T>]) {
    assert!(answers.iter().all(|answer| matches!(answer.step, Step::Taken(_))), "every row is taken");
}

/// Submits rows of this batch size from so many clients; rows a second.
async fn submits(room: &Arc<PostgresRoom>, clients: u64, batch: usize) -> Result<f64, Failure> {
    let until = Instant::now() + TIME;
    let tasks = (0..clients).map(|_| {
        let room = Arc::clone(room);
        tokio::spawn(async move {
            let mut rows = 0_u32;
            while Instant::now() < until {
                let requests: Vec<_> = (0..batch).map(|_| submit()).collect();
                all_taken(&room.submit(&ORIGIN, &requests).await?);
                rows += u32::try_from(batch)?;
            }
            Ok::<u32, Failure>(rows)
        })
    });
    total(tasks.collect()).await
}

/// Claims and publishes jobs that wait, in batches; jobs a second.
async fn runs(room: &Arc<PostgresRoom>, clients: u64, batch: usize) -> Result<f64, Failure> {
    let ready: Vec<Vec<JobId>> = prepared(room, clients, batch).await?;
    let until = Instant::now() + TIME;
    let tasks = ready.into_iter().map(|jobs| {
        let room = Arc::clone(room);
        tokio::spawn(async move {
            let mut rows = 0_u32;
            for part in jobs.chunks(batch) {
                if Instant::now() >= until {
                    break;
                }
                let claims: Vec<_> = part.iter().map(|job| claim(*job)).collect();
                all_taken(&room.authorize_attempt(&ORIGIN, &claims).await?);
                let ends: Vec<_> = part.iter().map(|job| success(*job)).collect();
                all_taken(&room.accept_success(&ORIGIN, &ends).await?);
                rows += u32::try_from(part.len())?;
            }
            Ok::<u32, Failure>(rows)
        })
    });
    total(tasks.collect()).await
}

async fn prepared(room: &Arc<PostgresRoom>, clients: u64, batch: usize) -> Result<Vec<Vec<JobId>>, Failure> {
    let mut ready = Vec::new();
    let each = usize::try_from(60_000 / clients)?.max(batch);
    for _ in 0..clients {
        let requests: Vec<_> = (0..each).map(|_| submit()).collect();
        all_taken(&room.submit(&ORIGIN, &requests).await?);
        ready.push(requests.iter().map(|request| request.job).collect());
    }
    Ok(ready)
}

async fn total(tasks: Vec<tokio::task::JoinHandle<Result<u32, Failure>>>) -> Result<f64, Failure> {
    let began = Instant::now();
    let mut rows = 0.0;
    for task in tasks {
        rows += f64::from(task.await??);
    }
    Ok(rows / began.elapsed().as_secs_f64())
}

/// Median and worst of a hundred calls.
macro_rules! timed {
    ($call:expr) => {{
        let mut all = Vec::new();
        for _ in 0..100 {
            let began = Instant::now();
            $call;
            all.push(began.elapsed());
        }
        all.sort_unstable();
        format!("median {:.2?}, worst of 100 {:.2?}", all[50], all[99])
    }};
}

async fn lookups(room: &Arc<PostgresRoom>, jobs: u64) -> Result<(), Failure> {
    let mut last = Vec::new();
    let began = Instant::now();
    for _ in 0..jobs / 1_000 {
        let requests: Vec<_> = (0..1_000).map(|_| submit()).collect();
        all_taken(&room.submit(&ORIGIN, &requests).await?);
        last = requests.iter().map(|request| request.job).collect();
    }
    println!("filled with {jobs} waiting jobs in {:.1?}", began.elapsed());
    let window = JobSpec { kind: "figures".to_owned(), ..JobSpec::default() }.window();
    let from = Position { due: Timestamp::MIN, sequence: 0 };
    let read = DispatchRead { window, from, limit: 200 };
    println!("dispatch read of 200: {}", timed!(room.dispatch_read(&read).await?));
    println!("waiting windows: {}", timed!(room.waiting_windows().await?));
    println!("next due: {}", timed!(room.next_due().await?));
    println!("submit of one: {}", timed!(all_taken(&room.submit(&ORIGIN, &[submit()]).await?)));
    let mut next = last.into_iter();
    let mut pick = || next.next().unwrap_or(JobId(0));
    println!(
        "claim and success of one: {}",
        timed!({
            let job = pick();
            all_taken(&room.authorize_attempt(&ORIGIN, &[claim(job)]).await?);
            all_taken(&room.accept_success(&ORIGIN, &[success(job)]).await?);
        })
    );
    println!("counts: {}", timed!(room.counts().await?));
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let url = words.next().ok_or("name the URL of a server")?;
    let jobs = words.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let join = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{join}schema=figures&connections=50&call_timeout_ms=60000");
    migrate::down(&url).await?;
    migrate::up(&url, &Setup::default()).await?;
    let room = Arc::new(PostgresRoom::open(&url, Options::default()).await?);
    println!("submits, 1 client, one by one: {:.0}/s", submits(&room, 1, 1).await?);
    println!("submits, {CLIENTS} clients, one by one: {:.0}/s", submits(&room, CLIENTS, 1).await?);
    println!("submits, 4 clients, batches of 500: {:.0}/s", submits(&room, 4, 500).await?);
    println!("claim and success, 1 client, one by one: {:.0}/s", runs(&room, 1, 1).await?);
    println!("claim and success, {CLIENTS} clients, one by one: {:.0}/s", runs(&room, CLIENTS, 1).await?);
    println!("claim and success, 4 clients, batches of 100: {:.0}/s", runs(&room, 4, 100).await?);
    lookups(&room, jobs).await?;
    println!("the schema `figures` stays, to be looked at; the next run removes it");
    Ok(())
}
