//! What happens to an installation: everything that can, at random.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use anyhow::bail;
use protocol::JobId;

use super::Fleet;
use super::process::Role;
use crate::processes::{freeze, kill, thaw};
use crate::proxy::Link;
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
    counts: BTreeMap<&'static str, u32>,
    /// How long it took until all jobs had ended.
    pub took: Duration,
}

impl Blown {
    fn note(&mut self, what: &'static str) {
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

/// What will be good again, and when.
enum Bad {
    Frozen(u32),
    Link(usize, usize),
}

impl Weather {
    /// Blows until all jobs have ended; then everything is good again.
    ///
    /// # Errors
    /// When they do not end in time, or a store does not come back.
    pub async fn blow(self, fleet: &mut Fleet, seed: &mut Seed, jobs: &[JobId]) -> anyhow::Result<Blown> {
        let mut bad: Vec<(Instant, Bad)> = Vec::new();
        let ended = self.until_ended(fleet, seed, jobs, &mut bad).await;
        bad.into_iter().for_each(|(_, bad)| fleet.mend(&bad));
        fleet.revive()?;
        ended
    }

    async fn until_ended(
        self,
        fleet: &mut Fleet,
        seed: &mut Seed,
        jobs: &[JobId],
        bad: &mut Vec<(Instant, Bad)>,
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
            due.iter().for_each(|(_, bad)| fleet.mend(bad));
            fleet.revive()?;
            if next <= now {
                next = now + self.every;
                let struck = fleet.strike(seed, &mut blown).await?;
                bad.extend(struck.map(|struck| (now + self.lasts, struck)));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

impl Fleet {
    fn mend(&mut self, bad: &Bad) {
        match *bad {
            Bad::Frozen(pid) => thaw(pid),
            Bad::Link(process, link) => self.processes[process].links[link].set(Link::Open),
        }
    }

    /// Starts again what has died.
    fn revive(&mut self) -> anyhow::Result<()> {
        for index in 0..self.processes.len() {
            if self.processes[index].pid().is_none() {
                self.processes[index].kill();
                self.start_process(index)?;
            }
        }
        Ok(())
    }

    /// One thing happens.
    async fn strike(&mut self, seed: &mut Seed, blown: &mut Blown) -> anyhow::Result<Option<Bad>> {
        match seed.below(16) {
            0..3 => {
                blown.note("worker killed");
                self.one_of(Role::Worker, seed).into_iter().for_each(kill);
            }
            3..5 => {
                blown.note("worker frozen");
                let Some(pid) = self.one_of(Role::Worker, seed) else { return Ok(None) };
                freeze(pid);
                return Ok(Some(Bad::Frozen(pid)));
            }
            5 => {
                blown.note("server killed");
                self.one_of(Role::Server, seed).into_iter().for_each(kill);
            }
            6..8 => {
                blown.note("FLUSHALL");
                self.stores.redis.say("FLUSHALL");
            }
            8 => {
                blown.note("PostgreSQL killed");
                tokio::task::block_in_place(|| self.stores.postgres.start_again());
            }
            9 => {
                blown.note("Redis killed");
                tokio::task::block_in_place(|| self.stores.redis.start_again());
            }
            10 => {
                blown.note("S3 killed");
                tokio::task::block_in_place(|| self.stores.s3.start_again());
            }
            _ => return Ok(Some(self.spoil_a_link(seed, blown))),
        }
        Ok(None)
    }

    fn one_of(&mut self, role: Role, seed: &mut Seed) -> Option<u32> {
        let of_role = self.processes.iter_mut().filter(|process| process.role == role);
        let pids: Vec<u32> = of_role.filter_map(super::process::Process::pid).collect();
        seed.pick(&pids).copied()
    }

    fn spoil_a_link(&mut self, seed: &mut Seed, blown: &mut Blown) -> Bad {
        let processes: Vec<usize> = (0..self.processes.len()).collect();
        let process = seed.pick(&processes).copied().unwrap_or_default();
        let link = seed.pick(&[0, 1, 2]).copied().unwrap_or_default();
        let (name, state) = match seed.below(4) {
            0 => ("link closed", Link::Closed),
            1 => ("link silent", Link::Silent),
            2 => ("reply lost", Link::ReplyLost),
            _ => ("link slow", Link::Slow(Duration::from_millis(100))),
        };
        blown.note(name);
        self.processes[process].links[link].set(state);
        Bad::Link(process, link)
    }
}
