//! Chance that can be repeated, and sizes that can be scaled.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A seeded source of chance: `REMORA_SEED` repeats a run.
pub struct Seed {
    seed: u64,
    rng: StdRng,
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "REMORA_SEED={}", self.seed)
    }
}

/// The size of a test: `REMORA_FULL=1` for the full one, `REMORA_JOBS` for any number of jobs.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Whether it is the full size.
    pub full: bool,
    /// How many jobs.
    pub jobs: usize,
}

impl Scale {
    /// The size asked for: so many jobs in CI, so many in full.
    #[must_use]
    pub fn of(small: usize, whole: usize) -> Self {
        let full = number("REMORA_FULL").is_some_and(|full| full > 0);
        let jobs = number("REMORA_JOBS").and_then(|jobs| usize::try_from(jobs).ok());
        Self { full, jobs: jobs.unwrap_or(if full { whole } else { small }) }
    }

    /// One of two values, by the size.
    #[must_use]
    pub fn either<T>(self, small: T, whole: T) -> T {
        if self.full { whole } else { small }
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

impl Seed {
    /// The seed asked for, or a new one; printed, so that a failure can be repeated.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "a test says how to repeat it")]
    pub fn announce(test: &str) -> Self {
        let seed = number("REMORA_SEED").unwrap_or_else(|| RandomState::new().hash_one(test));
        eprintln!("{test}: REMORA_SEED={seed}");
        Self::of(seed)
    }

    /// That seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self { seed, rng: StdRng::seed_from_u64(seed) }
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.seed
    }

    /// A number from 0 to below this one.
    pub fn below(&mut self, end: u64) -> u64 {
        self.rng.random_range(0..end.max(1))
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = usize::try_from(self.below(u64::try_from(from.len()).ok()?)).ok()?;
        from.get(index)
    }
}
