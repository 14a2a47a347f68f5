//! Faults at random while jobs run: the stress of real processes.

use std::time::{Duration, Instant};

use anyhow::bail;
use durable::DurableReads;
use protocol::JobId;
use remora::Client;

use crate::dev::Dev;
use crate::processes::{freeze, kill, thaw};
use crate::seed::Seed;

const LOOK: Duration = Duration::from_millis(100);

/// How hard it blows.
#[derive(Debug, Clone, Copy)]
pub struct Storm {
    /// A worker is killed or frozen so often.
    pub every: Duration,
    /// How long a frozen one stays so.
    pub frozen_for: Duration,
    /// Coordination is lost so often.
    pub lose_every: Duration,
    /// How long the jobs may take.
    pub limit: Duration,
}

/// What it did.
#[derive(Debug, Default, Clone, Copy)]
pub struct Blown {
    /// Workers killed.
    pub killed: u32,
    /// Workers frozen.
    pub frozen: u32,
    /// Losses of coordination.
    pub lost: u32,
    /// How long it took until all jobs had ended.
    pub took: Duration,
}

/// Frozen workers and when each is thawed.
#[derive(Default)]
struct Frozen(Vec<(u32, Instant)>);

impl Frozen {
    fn thaw_due(&mut self, now: Instant) {
        self.0.retain(|(pid, until)| {
            if *until <= now {
                thaw(*pid);
            }
            *until > now
        });
    }
}

impl Storm {
    /// Blows until all jobs have ended; every frozen worker is thawed then.
    ///
    /// # Errors
    /// When they do not end in time, or the owner does not answer.
    pub async fn blow(self, dev: &Dev, seed: &mut Seed, jobs: &[JobId]) -> anyhow::Result<Blown> {
        let mut frozen = Frozen::default();
        let ended = self.until_ended(dev, seed, jobs, &mut frozen).await;
        frozen.0.into_iter().for_each(|(pid, _)| thaw(pid));
        ended
    }

    async fn until_ended(
        self,
        dev: &Dev,
        seed: &mut Seed,
        jobs: &[JobId],
        frozen: &mut Frozen,
    ) -> anyhow::Result<Blown> {
        let client = dev.client().await?;
        let began = Instant::now();
        let mut blown = Blown::default();
        let (mut next_fault, mut next_loss) = (began + self.every, began + self.lose_every);
        loop {
            let unfinished = unfinished(&client, jobs).await?;
            blown.took = began.elapsed();
            if unfinished == 0 {
                return Ok(blown);
            }
            if blown.took > self.limit {
                bail!("{unfinished} of {} jobs have not ended after {:?}", jobs.len(), self.limit);
            }
            let now = Instant::now();
            frozen.thaw_due(now);
            if next_fault <= now {
                next_fault = now + self.every;
                self.strike(dev, seed, frozen, &mut blown).await?;
            }
            if next_loss <= now {
                next_loss = now + self.lose_every;
                dev.lose_coordination().await?;
                blown.lost += 1;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// One worker that is not frozen is killed or frozen.
    async fn strike(
        self,
        dev: &Dev,
        seed: &mut Seed,
        frozen: &mut Frozen,
        blown: &mut Blown,
    ) -> anyhow::Result<()> {
        let mut pids = dev.worker_pids().await?;
        pids.retain(|pid| frozen.0.iter().all(|(one, _)| one != pid));
        let Some(pid) = seed.pick(&pids).copied() else { return Ok(()) };
        if seed.below(2) == 0 {
            kill(pid);
            blown.killed += 1;
        } else {
            freeze(pid);
            frozen.0.push((pid, Instant::now() + self.frozen_for));
            blown.frozen += 1;
        }
        Ok(())
    }
}

async fn unfinished(client: &Client, jobs: &[JobId]) -> anyhow::Result<usize> {
    let mut unfinished = 0;
    for page in jobs.chunks(500) {
        let phases = DurableReads::phases(client.durable().as_ref(), page).await?;
        unfinished +=
            phases.iter().filter(|read| !read.as_ref().is_some_and(|read| read.phase.is_terminal())).count();
    }
    Ok(unfinished)
}
