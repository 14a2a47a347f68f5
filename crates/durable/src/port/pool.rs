//! The pool's row: epoch and configuration.

use serde::{Deserialize, Serialize};

/// A pool's coordination lifetime and its configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolRow {
    /// The current epoch, from 1 on.
    pub epoch: u64,
    /// Whether its repair has ended (`open`) or not (`opening`).
    pub open: bool,
    /// The lease length, in milliseconds.
    pub lease_ms: u64,
    /// Places to run in the whole pool.
    pub global_limit: u32,
    /// Queues from which nothing is reserved.
    pub paused: Vec<String>,
    /// Raised with every change of the configuration.
    pub config_revision: u64,
}

/// A compare-and-swap of the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaiseEpoch {
    /// The epoch that was read as open.
    pub from: u64,
    /// The new one, above it.
    pub to: u64,
}

/// A change of configuration; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configure {
    /// Places in the pool; at least 1.
    pub global_limit: Option<u32>,
    /// The lease length in milliseconds; 500 to 3,600,000.
    pub lease_ms: Option<u64>,
    /// A queue to pause.
    pub pause: Option<String>,
    /// A queue to resume.
    pub resume: Option<String>,
}
