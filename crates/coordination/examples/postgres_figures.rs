//! What the room on PostgreSQL costs: rates of a job's requests, and the size of its tables.
//!
//! `cargo run --release -p remora-coordination --features postgres --example postgres_figures [-- postgres://host/database]`;
//! without a URL it starts a server of its own.

mod figures;

use std::sync::Arc;
use std::time::Instant;

use figures::{Any, at, say, window};
use protocol::{Incarnation, ReservationId};
use remora_coordination::postgres::{Options, PostgresRoom};
use remora_coordination::{Coordination as _, HandBack, Reserve};

/// Jobs of one measurement.
const JOBS: u128 = 10_000;

async fn open(url: &str, pool: &str) -> Result<PostgresRoom, Any> {
    let room = PostgresRoom::open(&format!("{url}?schema=figures&pool={pool}"), Options::default()).await?;
    room.lose().await?;
    figures::open(&room).await?;
    Ok(room)
}

async fn rates(url: &str, clients: u128) -> Result<(), Any> {
    let room = Arc::new(open(url, &format!("rates{clients}")).await?);
    figures::rates(Arc::clone(&room) as _, clients, JOBS).await?;
    room.lose().await?;
    Ok(())
}

/// Reserve and release again: the smallest cycle of a place.
async fn reserve_release(room: Arc<PostgresRoom>, client: u128) -> Result<u32, Any> {
    let mut done = 0;
    let windows: Vec<_> = (0..JOBS / 2_000).map(window).collect();
    let worker = Incarnation(client);
    loop {
        let id = (client << 64) | (u128::from(done) + 1);
        let reserve = Reserve { worker, reservations: vec![ReservationId(id)], windows: windows.clone() };
        let Some(place) = room.reserve(&at(), &reserve).await?.remove(0).step.taken() else {
            return Ok(done);
        };
        let back = HandBack { job: place.job, reservation: ReservationId(id), worker };
        room.claim_refused(&at(), &[back]).await?;
        done += 1;
    }
}

async fn cycles(url: &str, clients: u128) -> Result<(), Any> {
    let room = Arc::new(open(url, &format!("cycles{clients}")).await?);
    figures::fill(room.as_ref(), JOBS).await?;
    let began = Instant::now();
    let tasks: Vec<_> =
        (1..=clients).map(|client| tokio::spawn(reserve_release(Arc::clone(&room), client))).collect();
    let mut jobs = 0;
    for task in tasks {
        jobs += task.await??;
    }
    let rate = f64::from(jobs) / began.elapsed().as_secs_f64();
    say(&format!("{clients} clients: {rate:.0} reserve → release cycles/s"));
    room.lose().await?;
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Any> {
    let server;
    let url = match std::env::args().nth(1) {
        Some(url) => url,
        None => {
            server = testbed::Postgres::start_with(&[("fsync", "on"), ("full_page_writes", "on")]);
            server.url()
        }
    };
    for clients in [1, 8] {
        cycles(&url, clients).await?;
        rates(&url, clients).await?;
    }
    Ok(())
}
