//! Many seeds, spread over threads.

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
