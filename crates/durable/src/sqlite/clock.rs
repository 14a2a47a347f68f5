//! The store's clock.
//!
//! Promises never to run backward within a process, whatever its source does, and to stay in the years 1 to 9999.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::Timestamp;

/// Where the time comes from.
pub type TimeSource = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The machine's own time.
#[must_use]
pub fn system_time() -> TimeSource {
    Arc::new(|| {
        let ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
        };
        Timestamp(ms)
    })
}

/// A time source whose answers never fall.
#[derive(Clone)]
pub(super) struct Clock {
    source: TimeSource,
    latest: Arc<AtomicI64>,
}

impl Clock {
    pub(super) fn new(source: TimeSource) -> Self {
        Self { source, latest: Arc::new(AtomicI64::new(Timestamp::MIN.0)) }
    }

    pub(super) fn now(&self) -> Timestamp {
        let now = (self.source)().0.clamp(Timestamp::MIN.0, Timestamp::MAX.0);
        Timestamp(self.latest.fetch_max(now, Ordering::Relaxed).max(now))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.latest).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_steps_back_does_not_take_the_clock_along() {
        let source = Arc::new(AtomicI64::new(100));
        let read = Arc::clone(&source);
        let clock = Clock::new(Arc::new(move || Timestamp(read.load(Ordering::Relaxed))));
        assert_eq!(clock.now(), Timestamp(100));
        source.store(40, Ordering::Relaxed);
        assert_eq!(clock.now(), Timestamp(100));
        source.store(i64::MAX, Ordering::Relaxed);
        assert_eq!(clock.now(), Timestamp::MAX);
    }
}
