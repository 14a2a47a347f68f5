//! What both examples of figures do: rates of a job's requests on a room.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::{
    ActorId, AttemptId, Incarnation, JobId, Origin, Position, Priority, ReservationId, Token, Window,
};
use remora_coordination::*;

pub(crate) type Any = Box<dyn std::error::Error + Send + Sync>;

pub(crate) fn at() -> At {
    At { origin: Origin { actor: ActorId(1), sequence: 1, sent_after: 0 }, epoch: 1 }
}

pub(crate) fn window(number: u128) -> Window {
    Window { queue: format!("queue-{number}"), kind: "exec".to_owned(), priority: Priority(2) }
}

/// Opens an empty pool, with a worker that serves everything.
pub(crate) async fn open(room: &dyn CoordinationRoom) -> Result<(), Any> {
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
    Ok(())
}

/// Fills windows of 2,000 entries, in batches of 1,000.
pub(crate) async fn fill(room: &dyn CoordinationRoom, jobs: u128) -> Result<Duration, Any> {
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
async fn drain(room: Arc<dyn CoordinationRoom>, client: u128, jobs: u128) -> Result<u32, Any> {
    let mut done = 0;
    let windows: Vec<_> = (0..jobs / 2_000).map(window).collect();
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
pub(crate) fn say(what: &str) {
    println!("{what}");
}

/// Whole lives of so many jobs, by so many clients at once.
pub(crate) async fn rates(room: Arc<dyn CoordinationRoom>, clients: u128, jobs: u128) -> Result<(), Any> {
    let filled = fill(room.as_ref(), jobs).await?;
    let began = Instant::now();
    let tasks: Vec<_> =
        (1..=clients).map(|client| tokio::spawn(drain(Arc::clone(&room), client, jobs))).collect();
    let mut done = 0;
    for task in tasks {
        done += task.await??;
    }
    let seconds = began.elapsed().as_secs_f64();
    let rate = f64::from(done) / seconds;
    say(&format!(
        "{clients} clients: {done} jobs in {seconds:.1} s, {rate:.0} jobs/s, {:.0} requests/s",
        rate * 4.0
    ));
    let entries = f64::from(u32::try_from(jobs)?);
    say(&format!("   enqueue in batches of 1,000: {:.0} entries/s", entries / filled.as_secs_f64()));
    Ok(())
}
