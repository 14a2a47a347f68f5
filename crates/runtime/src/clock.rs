//! Time as one process sees it. Never compared between machines.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use rustix::time::{ClockId, clock_gettime};

/// A clock that also counts while the machine sleeps, and can be waited on.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Time since the machine started, sleep included. Deadlines live on it.
    fn boottime(&self) -> Duration;

    /// Milliseconds since 1970: for ids and for people, never for decisions.
    fn unix_ms(&self) -> u64;

    /// Returns after so long.
    async fn sleep(&self, duration: Duration);

    /// Returns once [`Clock::boottime`] has reached `deadline`; at once when it has.
    async fn sleep_until(&self, deadline: Duration) {
        while let Some(rest) = deadline.checked_sub(self.boottime()).filter(|rest| !rest.is_zero()) {
            self.sleep(rest).await;
        }
    }
}

/// CLOCK_BOOTTIME and tokio's timer.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn boottime(&self) -> Duration {
        let now = clock_gettime(ClockId::Boottime);
        Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
    }

    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_deadline_that_has_passed_is_not_waited_for() {
        let clock = SystemClock;
        clock.sleep_until(Duration::ZERO).await;
        let soon = clock.boottime() + Duration::from_millis(5);
        clock.sleep_until(soon).await;
        assert!(clock.boottime() >= soon);
    }
}
