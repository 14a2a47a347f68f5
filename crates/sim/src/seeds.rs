//! Many seeds, spread over threads.

use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::plan::Options;
use crate::run::run;

/// What many runs came to.
#[derive(Debug, Default)]
pub struct Sum {
    /// Runs.
    pub runs: u64,
    /// Attempts made in them.
    pub attempts: u64,
    /// Events recorded in them.
    pub events: u64,
    /// How long they took in their worlds' time.
    pub lasted: Duration,
    /// Seeds that failed, and how; in order.
    pub failed: Vec<(u64, Vec<String>)>,
}

/// Where there is no commit to take a seed from.
const WITHOUT_COMMIT: u64 = 1;
/// Seeds of commits are below this, so that people can copy them.
const MOST: u64 = 1_000_000_000;

/// The first seed of the commit that is checked out: other seeds with every commit, the same ones for everybody who has it.
#[must_use]
pub fn seed_of_commit() -> u64 {
    let mut git = Command::new("git");
    // The folder may be somebody else's, as in a container.
    git.args(["-c", "safe.directory=*", "rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let commit = git.output().ok().filter(|output| output.status.success()).map(|output| output.stdout);
    commit.map_or(WITHOUT_COMMIT, |commit| seed_of(commit.trim_ascii()))
}

/// FNV-1a: the same number everywhere and for good.
fn seed_of(commit: &[u8]) -> u64 {
    let hash = commit.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    1 + hash % MOST
}

/// Lives so many seeds from one on, on so many threads; stops after some have failed.
#[must_use]
pub fn live(from: u64, seeds: u64, threads: usize, options: &Options) -> Sum {
    let next = AtomicU64::new(0);
    let sum = Mutex::new(Sum::default());
    let most_failures = if options.planted.is_some() { 1 } else { 20 };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let enough =
                        sum.lock().unwrap_or_else(PoisonError::into_inner).failed.len() >= most_failures;
                    if number >= seeds || enough {
                        return;
                    }
                    let seed = from.wrapping_add(number);
                    let outcome = run(seed, options);
                    let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                    sum.runs += 1;
                    sum.attempts += outcome.attempts;
                    sum.events += u64::try_from(outcome.events).unwrap_or(0);
                    sum.lasted += outcome.lasted;
                    if !outcome.wrong.is_empty() {
                        sum.failed.push((seed, outcome.wrong));
                    }
                }
            });
        }
    });
    let mut sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    sum.failed.sort();
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_commit_has_a_seed_of_its_own_that_stays() {
        let one = seed_of(b"c25ccc8f0b7d0c8ab1c1b0a4e9a3f3a0a7d9f1e2");
        assert_eq!(one, seed_of(b"c25ccc8f0b7d0c8ab1c1b0a4e9a3f3a0a7d9f1e2"));
        assert_ne!(one, seed_of(b"c25ccc8f0b7d0c8ab1c1b0a4e9a3f3a0a7d9f1e3"));
        assert!((1..=MOST).contains(&one));
        assert_eq!(seed_of_commit(), seed_of_commit());
    }
}
