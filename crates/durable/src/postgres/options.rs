//! How a room is opened, beside its URL.

use std::fmt;
use std::sync::Arc;

use protocol::{EventSink, NoEvents, Timestamp};

/// Where the time comes from, when not from the server.
pub type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What a room is opened with beside its URL. Everything has a default.
#[derive(Clone)]
pub struct Options {
    /// The pool's name: `default`. A schema belongs to one pool; another name is an error.
    pub pool: String,
    /// Where events go: nowhere. This process records the answers that it gets.
    pub sink: Arc<dyn EventSink>,
    /// The store's clock: the server's. Only tests bring another, and then every process must bring the same.
    pub time: Option<TimeSource>,
}

impl Default for Options {
    fn default() -> Self {
        Self { pool: "default".to_owned(), sink: NoEvents::shared(), time: None }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("pool", &self.pool)
            .field("events", &self.sink.is_on())
            .field("clock", &if self.time.is_some() { "given" } else { "the server's" })
            .finish()
    }
}
