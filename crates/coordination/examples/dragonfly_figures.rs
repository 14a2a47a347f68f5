//! What the room on a server costs: rates of a job's four requests, and memory of a full pool.
//!
//! `cargo run --release -p remora-coordination --features dragonfly --example dragonfly_figures [-- redis://host]`;
//! without a URL it starts a `redis-server` of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::{
    ActorId, AttemptId, Incarnation, JobId, Origin, Position, Priority, ReservationId, Token, Window,
};
use remora_coordination::dragonfly::{DragonflyRoom, Options};
use remora_coordination::*;

type Any = Box<dyn std::error::Error + Send + Sync>;

/// Jobs of one measurement, and entries of a full pool.
const JOBS: u128 = 20_000;
const FULL: u128 = 200_000;

fn at() -> At {
    At { origin: Origin { actor: ActorId(1), sequence: 1, sent_after: 0 }, epoch: 1 }
}

fn window(number: u128) -> Window {
    Window { queue: format!("queue-{number}"), kind: "exec".to_owned(), priority: Priority(2) }
}

async fn open(url: &str, pool: &str) -> Result<DragonflyRoom, Any> {
    let room =
        DragonflyRoom::open(&format!("{url}?installation=figures&pool={pool}"), Options::default()).await?;
    room.lose().await?;
    room.install_epoch(1, protocol::InstallationId(1)).await?;
    let config = PoolConfig { revision: 1, global_limit: 1_000, lease_ms: 15_000, paused: Vec::new() };
    room.configure(&at(), &config).await?;
    let worker = Registration {
        worker: Incarnation(1),
        name: "w".to_owned(),
        pid: 1,
        host: "h".to_owned(),
        slots: 1_000,
        queues: None,
        kinds: vec!["exec".to_owned()],
        draining: false,
    };
    room.register(&at(), &worker).await?;
    room.open_epoch(&at()).await?;
    Ok(room)
}

/// Fills windows of 2,000 entries, in batches of 1,000.
async fn fill(room: &DragonflyRoom, jobs: u128) -> Result<Duration, Any> {
    let began = Instant::now();
    for first in (0..jobs).step_by(1_000) {
        let one = |number: u128| Enqueue {
            job: JobId(protocol::id::v7(1_790_000_000_000, number << 64 | number)),
            window: window(number / 2_000),
            position: Position { sequence: u64::try_from(number).unwrap_or(0), ..Position::default() },
            checkpoint_revision: 0,
            judged: Vec::new(),
        };
        let batch: Vec<_> = (first..first + 1_000).map(one).collect();
        room.enqueue(&at(), &batch).await?;
    }
    Ok(began.elapsed())
}

/// Reserve, activate, renew, release: one job after another.
async fn drain(room: Arc<DragonflyRoom>, client: u128) -> Result<u32, Any> {
    let mut done = 0;
    let windows: Vec<_> = (0..JOBS / 2_000).map(window).collect();
    let worker = Incarnation(client);
    loop {
        let id = (client << 64) | (u128::from(done) + 1);
        let reserve = Reserve { worker, reservations: vec![ReservationId(id)], windows: windows.clone() };
        let Some(place) = room.reserve(&at(), &reserve).await?.remove(0).step.taken() else {
            return Ok(done);
        };
        let (job, attempt) = (place.job, AttemptId(id));
        let activate = ActivateAttempt {
            job,
            attempt,
            token: Token(1),
            reservation: ReservationId(id),
            worker,
            judged: Vec::new(),
        };
        room.activate_attempt(&at(), &[activate]).await?;
        room.renew_lease(&at(), &[RenewLease { job, attempt, worker }]).await?;
        room.release_lease(&at(), &[ReleaseLease { job, attempt, judged: Vec::new() }]).await?;
        done += 1;
    }
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn say(what: &str) {
    println!("{what}");
}

async fn rates(url: &str, clients: u128) -> Result<(), Any> {
    let room = Arc::new(open(url, &format!("rates{clients}")).await?);
    let filled = fill(&room, JOBS).await?;
    let began = Instant::now();
    let tasks: Vec<_> = (1..=clients).map(|client| tokio::spawn(drain(Arc::clone(&room), client))).collect();
    let mut jobs = 0;
    for task in tasks {
        jobs += task.await??;
    }
    let seconds = began.elapsed().as_secs_f64();
    let rate = f64::from(jobs) / seconds;
    say(&format!(
        "{clients} clients: {jobs} jobs in {seconds:.1} s, {rate:.0} jobs/s, {:.0} requests/s",
        rate * 4.0
    ));
    let entries = f64::from(u32::try_from(JOBS)?);
    say(&format!("   enqueue in batches of 1,000: {:.0} entries/s", entries / filled.as_secs_f64()));
    room.lose().await?;
    Ok(())
}

fn used(server: &testbed::Redis) -> u64 {
    let text = server.say("INFO memory");
    let line = text.lines().find_map(|line| line.strip_prefix("used_memory:"));
    line.and_then(|line| line.trim().parse().ok()).unwrap_or(0)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Any> {
    if let Some(url) = std::env::args().nth(1) {
        rates(&url, 1).await?;
        return rates(&url, 8).await;
    }
    let server = testbed::Redis::start();
    rates(&server.url(), 1).await?;
    rates(&server.url(), 8).await?;
    let before = used(&server);
    let room = open(&server.url(), "full").await?;
    let filled = fill(&room, FULL).await?;
    let mib = used(&server).saturating_sub(before) / 1024 / 1024;
    say(&format!("{} entries in 100 windows: {mib} MiB, filled in {filled:.1?}", room.pool().await?.queued));
    let began = Instant::now();
    let reserve = Reserve {
        worker: Incarnation(1),
        reservations: vec![ReservationId(1)],
        windows: (0..32).map(window).collect(),
    };
    room.reserve(&at(), &reserve).await?;
    say(&format!("a Reserve over 32 of them: {:.1?}", began.elapsed()));
    Ok(())
}
