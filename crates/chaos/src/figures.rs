//! How long an installation takes to recover, fault by fault, with work waiting all the time.
//!
//! Promises figures of an installation that nobody touches: what was killed stays dead where others can take its work over.
//! Does not promise anything about the machine it is measured on.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use protocol::{JobId, JobSpec};

use crate::campaign::recovery::{Recovered, Watch};
use crate::fleet::process::Role;
use crate::fleet::{Bad, Fault, Fleet, FleetOptions, Room};
use crate::jobs::count;
use crate::processes::{freeze, kill, thaw};

/// How long a frozen worker and a cut link stay so.
const LASTS: Duration = Duration::from_secs(30);
/// How long the machine may take.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(50);
/// Jobs of one transaction.
const BATCH: usize = 5_000;
/// Steps of each job: about a second.
const STEPS: u32 = 3;

/// A line of the table.
#[derive(Debug)]
pub struct Figure {
    what: String,
    recovered: Recovered,
}

impl Figure {
    /// As a row of a table.
    #[must_use]
    pub fn row(&self) -> String {
        let claim = self.recovered.first_claim.map_or("–".to_owned(), seconds);
        format!("| {} | {claim} | {} |", self.what, seconds(self.recovered.normal))
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Measures all of them.
///
/// # Errors
/// When the installation does not become normal again by itself.
pub async fn measure(program: &str, lease: Duration, tell: fn(&str)) -> anyhow::Result<Vec<Figure>> {
    let options = FleetOptions { servers: 2, workers: 4, slots: 2, lease };
    let mut bench = Bench { fleet: Fleet::start(program, options).await?, figures: Vec::new(), tell };
    bench.fill(10).await?;
    bench.lose("coordination lost, 10 jobs waiting").await?;
    bench.fill(1_000).await?;
    bench.lose("coordination lost, 1,000 jobs waiting").await?;
    // From here on there is work enough for all that follows.
    bench.fill(100_000).await?;
    bench.lose("coordination lost, 100,000 jobs waiting").await?;
    bench.dead_worker().await?;
    bench.frozen_worker().await?;
    bench.postgres_restarted().await?;
    for (role, name) in [(Role::Worker, "one worker"), (Role::Server, "one server")] {
        for room in Room::ALL {
            bench.cut(role, name, room, false).await?;
        }
    }
    for room in Room::ALL {
        bench.cut(Role::Worker, "every worker and server", room, true).await?;
    }
    Ok(bench.figures)
}

struct Bench {
    fleet: Fleet,
    figures: Vec<Figure>,
    tell: fn(&str),
}

impl Bench {
    /// So many jobs wait, and every slot is taken.
    async fn fill(&mut self, jobs: usize) -> anyhow::Result<()> {
        let spec = || JobSpec { max_attempts: 100, ..count(STEPS, Duration::from_millis(300), None) };
        let specs: Vec<JobSpec> = (0..jobs + 8).map(|_| spec()).collect();
        for batch in specs.chunks(BATCH) {
            drop::<Vec<JobId>>(self.fleet.submit_at_once(batch).await?);
        }
        self.running().await.map(drop)
    }

    async fn running(&mut self) -> anyhow::Result<HashSet<protocol::AttemptId>> {
        let began = Instant::now();
        loop {
            if let Some(running) = self.fleet.look(None).await.running.filter(|running| !running.is_empty()) {
                return Ok(running);
            }
            if began.elapsed() > PATIENCE {
                bail!("nothing runs: {}", self.fleet.log());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn begin(&mut self) -> anyhow::Result<Watch> {
        Ok(Watch::begin(self.running().await?))
    }

    /// Looks until all is normal.
    async fn end(&mut self, what: String, mut watch: Watch, lasts: Duration) -> anyhow::Result<()> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(seen) = watch.look(&mut self.fleet).await {
                let recovered = Recovered { normal: seen.normal + lasts, ..seen };
                let figure = Figure { what, recovered };
                (self.tell)(&figure.row());
                self.figures.push(figure);
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        bail!("{what}: not normal after {PATIENCE:?}: {:?}", watch.wrong)
    }

    async fn lose(&mut self, what: &str) -> anyhow::Result<()> {
        let mut watch = self.begin().await?;
        self.fleet.stores().redis.try_say("FLUSHALL").context("flush coordination")?;
        watch.fault_ended();
        self.end(what.to_owned(), watch, Duration::ZERO).await
    }

    /// The killed one's jobs must run elsewhere; it is started again afterwards.
    async fn dead_worker(&mut self) -> anyhow::Result<()> {
        let pid = *self.fleet.pids_of(Role::Worker).first().context("a worker")?;
        let mut watch = self.begin().await?.without(pid);
        kill(pid);
        watch.fault_ended();
        self.end("worker killed, not started again".to_owned(), watch, Duration::ZERO).await?;
        self.fleet.revive().map(drop)
    }

    async fn frozen_worker(&mut self) -> anyhow::Result<()> {
        let pid = *self.fleet.pids_of(Role::Worker).first().context("a worker")?;
        let mut watch = self.begin().await?.without(pid);
        freeze(pid);
        watch.fault_ended();
        let told = self.end("worker frozen: the others".to_owned(), watch, Duration::ZERO).await;
        let mut watch = self.begin().await?;
        thaw(pid);
        told?;
        watch.fault_ended();
        self.end("the same, thawed".to_owned(), watch, Duration::ZERO).await
    }

    async fn postgres_restarted(&mut self) -> anyhow::Result<()> {
        let mut watch = self.begin().await?;
        tokio::task::block_in_place(|| self.fleet.stores().postgres.start_again());
        watch.fault_ended();
        self.end("PostgreSQL killed and started".to_owned(), watch, Duration::ZERO).await
    }

    /// One process's link, or everybody's, silent for half a minute.
    async fn cut(&mut self, role: Role, who: &str, room: Room, everybody: bool) -> anyhow::Result<()> {
        let mut watch = self.begin().await?;
        let numbers = self.fleet.numbers_of((!everybody).then_some(role));
        let numbers = numbers.into_iter().take(if everybody { usize::MAX } else { 1 });
        let struck: Vec<_> = numbers.map(|process| self.fleet.cut(process, room, Bad::Silent)).collect();
        let began = Instant::now();
        while began.elapsed() < LASTS {
            let _ = watch.look(&mut self.fleet).await;
            tokio::time::sleep(LOOK).await;
        }
        struck.iter().try_for_each(|struck| self.fleet.mend(struck))?;
        watch.fault_ended();
        let what = format!("{who}: {} for 30 s", Fault::Link(room, Bad::Silent).name());
        self.end(what, watch, LASTS).await
    }
}
