//! What an installation looks like at one moment, and whether that is normal.

use std::collections::HashSet;
use std::time::Duration;

use protocol::AttemptId;

use super::Fleet;
use super::process::Role;

/// How long a store may take to answer somebody who only looks.
const GLANCE: Duration = Duration::from_millis(500);
/// More attempts than this are not looked at.
const MOST: usize = 500;

/// One look.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    /// Attempts with authority; `None` when the durable store gave no answer.
    pub running: Option<HashSet<AttemptId>>,
    /// Attempts with a lease; `None` when coordination gave no answer.
    pub leased: Option<HashSet<AttemptId>>,
    /// Processes that do not run or, being workers, are not registered.
    pub missing: usize,
    /// What else is not as on a good day.
    pub odd: Vec<String>,
}

impl Sight {
    /// Attempts that have authority and no lease, or a lease and no authority. On a good day only for a moment.
    #[must_use]
    pub fn apart(&self) -> HashSet<AttemptId> {
        match (&self.running, &self.leased) {
            (Some(running), Some(leased)) => running.symmetric_difference(leased).copied().collect(),
            _ => HashSet::new(),
        }
    }

    /// Whether something is odd whatever came before.
    #[must_use]
    pub fn is_odd(&self) -> bool {
        self.missing > 0 || !self.odd.is_empty()
    }

    /// What is not normal, given an earlier look.
    #[must_use]
    pub fn wrong_since(&self, before: &Self) -> Vec<String> {
        let mut wrong = self.odd.clone();
        if self.missing > 0 {
            wrong.push(format!("{} processes do not run or are not registered", self.missing));
        }
        let still: Vec<_> = self.apart().intersection(&before.apart()).copied().collect();
        wrong.extend(still.into_iter().map(|attempt| {
            let leased = self.leased.as_ref().is_some_and(|leased| leased.contains(&attempt));
            let what = if leased { "a lease and no authority" } else { "authority and no lease" };
            format!("{attempt} has {what}")
        }));
        wrong
    }
}

impl Fleet {
    /// Looks, without changing anything, at an installation that should be whole but for one worker, whose work is others' now.
    pub async fn look(&mut self, but: Option<u32>) -> Sight {
        let mut odd = Vec::new();
        let mut missing =
            self.processes.iter_mut().map(|process| process.pid()).filter(Option::is_none).count();
        if but.is_some_and(|pid| !crate::processes::exists(pid)) {
            missing = missing.saturating_sub(1);
        }
        let mut pids = self.pids_of(Role::Worker);
        pids.retain(|pid| Some(*pid) != but);
        let (durable, coordination) = (self.client.durable(), self.client.coordination());
        let rows = tokio::time::timeout(GLANCE, durable.running(None, MOST));
        let row = tokio::time::timeout(GLANCE, durable.pool());
        let workers = tokio::time::timeout(GLANCE, coordination.workers());
        let pool = tokio::time::timeout(GLANCE, coordination.pool());
        let (rows, row, workers, pool) = tokio::join!(rows, row, workers, pool);
        let running =
            rows.ok().and_then(Result::ok).map(|rows| rows.into_iter().map(|one| one.attempt).collect());
        let workers = workers.ok().and_then(Result::ok);
        match (&workers, row.ok().and_then(Result::ok), pool.ok().and_then(Result::ok)) {
            (Some(workers), Some(row), Some(pool)) => {
                let lease = self.options.lease.as_millis();
                let seen = |pid: &&u32| {
                    workers.iter().any(|worker| {
                        worker.registration.pid == **pid && u128::from(worker.seen_ms_ago) < lease
                    })
                };
                missing += pids.iter().filter(|pid| !seen(pid)).count();
                let gone = workers.iter().filter(|worker| !pids.contains(&worker.registration.pid));
                let orphans: usize = gone.map(|worker| worker.attempts.len()).sum();
                if orphans > 0 {
                    odd.push(format!("{orphans} leases of workers that are gone"));
                }
                if !pool.open || pool.unaccounted > 0 || pool.mark.epoch != row.epoch {
                    odd.push(format!(
                        "the pool is at epoch {} (durable {}), open {}, {} unaccounted",
                        pool.mark.epoch, row.epoch, pool.open, pool.unaccounted
                    ));
                }
            }
            _ => odd.push("a store gives no answer".to_owned()),
        }
        let leased = workers.map(|workers| {
            workers.into_iter().flat_map(|worker| worker.attempts).map(|held| held.attempt).collect()
        });
        Sight { running, leased, missing, odd }
    }
}
