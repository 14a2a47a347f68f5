//! The pool's row: epoch and configuration.

use protocol::job::check_name;
use protocol::{InstallationId, PoolConfig, TargetId, Violation};
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
    /// Whose pool it is: made with the store, never changed.
    pub installation: InstallationId,
    /// Where it publishes; `None` until the first process that publishes has named its target.
    pub target: Option<TargetId>,
}

impl PoolRow {
    /// Its configuration, which coordination has a copy of.
    #[must_use]
    pub fn config(&self) -> PoolConfig {
        PoolConfig {
            revision: self.config_revision,
            global_limit: self.global_limit,
            lease_ms: self.lease_ms,
            paused: self.paused.clone(),
        }
    }
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

impl Configure {
    /// Places that a pool may have.
    pub const GLOBAL_LIMIT: std::ops::RangeInclusive<u32> = 1..=1_000_000;
    /// Lease lengths that a pool may have, in milliseconds.
    pub const LEASE_MS: std::ops::RangeInclusive<u64> = 500..=3_600_000;

    /// Checks every field. A room that is asked for something else answers with a fault whose source is this
    /// [`Violation`].
    ///
    /// # Errors
    /// The first field that is wrong, with its value and what is allowed.
    pub fn validate(&self) -> Result<(), Violation> {
        let out_of = |field: &str, value: String, allowed: String| Violation {
            field: field.to_owned(),
            value,
            allowed,
        };
        if let Some(limit) = self.global_limit
            && !Self::GLOBAL_LIMIT.contains(&limit)
        {
            return Err(out_of("global_limit", limit.to_string(), "1 to 1000000".to_owned()));
        }
        if let Some(lease) = self.lease_ms
            && !Self::LEASE_MS.contains(&lease)
        {
            return Err(out_of("lease", format!("{lease} ms"), "500 ms to 3600000 ms (an hour)".to_owned()));
        }
        self.pause.iter().chain(&self.resume).try_for_each(|queue| check_name("queue", queue))
    }
}
