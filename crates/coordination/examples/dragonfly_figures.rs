//! What the room on a server costs: rates of a job's four requests, and memory of a full pool.
//!
//! `cargo run --release -p remora-coordination --features dragonfly --example dragonfly_figures [-- redis://host]`;
//! without a URL it starts a `redis-server` of its own.

mod figures;

use std::sync::Arc;
use std::time::Instant;

use figures::{Any, at, say, window};
use protocol::{Incarnation, ReservationId};
use remora_coordination::dragonfly::{DragonflyRoom, Options};
use remora_coordination::{Coordination as _, CoordinationReads as _, Reserve};

/// Jobs of one measurement, and entries of a full pool.
const JOBS: u128 = 20_000;
const FULL: u128 = 200_000;

async fn open(url: &str, pool: &str) -> Result<DragonflyRoom, Any> {
    let room =
        DragonflyRoom::open(&format!("{url}?installation=figures&pool={pool}"), Options::default()).await?;
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
    let filled = figures::fill(&room, FULL).await?;
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
