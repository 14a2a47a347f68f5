//! What happens to an installation: everything that can, at random.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use anyhow::bail;
use protocol::JobId;

use super::Fleet;
use super::fault::{Bad, Fault, Room, Struck};
use crate::seed::Seed;

const LOOK: Duration = Duration::from_millis(50);

/// How bad it is.
#[derive(Debug, Clone, Copy)]
pub struct Weather {
    /// Something happens so often.
    pub every: Duration,
    /// How long a frozen process or a bad link stays so.
    pub lasts: Duration,
    /// How long the jobs may take.
    pub limit: Duration,
}

/// What happened.
#[derive(Debug, Default)]
pub struct Blown {
    counts: BTreeMap<String, u32>,
    /// How long it took until all jobs had ended.
    pub took: Duration,
}

impl Blown {
    fn note(&mut self, what: String) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// How many things happened.
    #[must_use]
    pub fn faults(&self) -> u32 {
        self.counts.values().sum()
    }
}

impl fmt::Display for Blown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} s, {} faults", self.took.as_secs_f64(), self.faults())?;
        self.counts.iter().try_for_each(|(what, count)| write!(f, "; {what} {count}"))
    }
}

impl Weather {
    /// Blows until all jobs have ended; then everything is good again.
    ///
    /// # Errors
    /// When they do not end in time, or a store does not come back.
    pub async fn blow(self, fleet: &mut Fleet, seed: &mut Seed, jobs: &[JobId]) -> anyhow::Result<Blown> {
        let mut bad: Vec<(Instant, Struck)> = Vec::new();
        let ended = self.until_ended(fleet, seed, jobs, &mut bad).await;
        bad.iter().try_for_each(|(_, struck)| fleet.mend(struck))?;
        fleet.revive()?;
        ended
    }

    async fn until_ended(
        self,
        fleet: &mut Fleet,
        seed: &mut Seed,
        jobs: &[JobId],
        bad: &mut Vec<(Instant, Struck)>,
    ) -> anyhow::Result<Blown> {
        let began = Instant::now();
        let mut blown = Blown::default();
        let mut next = began + self.every;
        loop {
            let left = fleet.unfinished(jobs).await;
            blown.took = began.elapsed();
            if left == Some(0) {
                return Ok(blown);
            }
            if blown.took > self.limit {
                bail!("{left:?} of {} jobs have not ended after {:?}; {blown}", jobs.len(), self.limit);
            }
            let now = Instant::now();
            let (due, rest): (Vec<_>, Vec<_>) =
                std::mem::take(bad).into_iter().partition(|(until, _)| *until <= now);
            *bad = rest;
            due.iter().try_for_each(|(_, struck)| fleet.mend(struck))?;
            fleet.revive()?;
            if next <= now {
                next = now + self.every;
                let fault = one(seed);
                let struck = fleet.strike(fault, seed).await?;
                blown.note(fault.name());
                bad.extend(struck.map(|struck| (now + self.lasts, struck)));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// A fault that any machine can do.
fn one(seed: &mut Seed) -> Fault {
    match seed.below(16) {
        0..3 => Fault::WorkerKilled,
        3..5 => Fault::WorkerFrozen,
        5 => Fault::ServerKilled,
        6..8 => Fault::RedisFlushed,
        8 => Fault::PostgresRestarted,
        9 => Fault::RedisRestarted,
        10 => Fault::S3Restarted,
        _ => {
            let room = seed.pick(&Room::ALL).copied().unwrap_or(Room::Durable);
            let bad = [Bad::Closed, Bad::Silent, Bad::ReplyLost, Bad::Slow];
            Fault::Link(room, seed.pick(&bad).copied().unwrap_or(Bad::Closed))
        }
    }
}
