//! How a room is opened.

use std::fmt;
use std::sync::Arc;

use protocol::{EventSink, NoEvents};

use super::clock::{TimeSource, system_time};

/// What a room is opened with. Everything has a default.
#[derive(Clone)]
pub struct Options {
    /// The pool's name: `default`. A file belongs to one pool; another name is an error.
    pub pool: String,
    /// The lease length of a *new* file, in milliseconds: 15,000. Later it is changed by `configure`.
    /// Too small: a busy machine loses leases and attempts. Too large: a lost worker is noticed late.
    pub lease_ms: u64,
    /// Places to run in a *new* file's pool: 1,000. Later it is changed by `configure`.
    /// Too small: jobs wait beside idle workers. Too large: nothing holds back what all jobs together load.
    pub global_limit: u32,
    /// Where events go: nowhere.
    pub sink: Arc<dyn EventSink>,
    /// The store's clock: the system's time. Held so that it never runs backward while the room is open.
    pub time: TimeSource,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pool: "default".to_owned(),
            lease_ms: 15_000,
            global_limit: 1_000,
            sink: NoEvents::shared(),
            time: system_time(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("pool", &self.pool)
            .field("lease_ms", &self.lease_ms)
            .field("global_limit", &self.global_limit)
            .field("events", &self.sink.is_on())
            .finish_non_exhaustive()
    }
}
