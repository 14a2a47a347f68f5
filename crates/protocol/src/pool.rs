//! How a pool is configured.

use serde::{Deserialize, Serialize};

/// Limits, pauses and lease length, as the durable room has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolConfig {
    /// The configuration's revision.
    pub revision: u64,
    /// Places in the pool.
    pub global_limit: u32,
    /// The lease length, in milliseconds.
    pub lease_ms: u64,
    /// Queues from which nothing is reserved.
    pub paused: Vec<String>,
}
