//! The retry scheduler: queues jobs whose retry is due.
//!
//! When: at the next due time, on a nudge, and every second. Drives `ScheduleRetry`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::Fault;
use tokio::sync::Notify;

use crate::driver::{Agent, Report};
use crate::ground::{Ground, taken, those_taken};

const PAGE: usize = 500;

/// See the module.
pub struct RetryScheduler {
    ground: Arc<Ground>,
}

impl RetryScheduler {
    /// A retry scheduler on this ground.
    #[must_use]
    pub fn new(ground: Arc<Ground>) -> Self {
        Self { ground }
    }
}

#[async_trait]
impl Agent for RetryScheduler {
    fn name(&self) -> &'static str {
        "retry_scheduler"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn bell(&self) -> Arc<Notify> {
        Arc::clone(&self.ground.wake.retry_scheduler)
    }

    fn rest(&self) -> Duration {
        Duration::from_millis(20)
    }

    #[doc(alias = "ScheduleRetry")]
    async fn pass(&self) -> Result<Report, Fault> {
        let due = self.ground.rooms.durable.due_retries(PAGE).await?;
        let mut report = Report::default();
        if !due.is_empty() {
            let sent = self.ground.send();
            let answers = sent.of(self.ground.rooms.durable.schedule_retry(&sent.origin, &due)).await?;
            report.taken = taken(&answers);
            self.ground.offer(those_taken(&due, &answers).map(|(request, _)| request.job));
        }
        if due.len() == PAGE {
            report.again = Some(Duration::ZERO);
        } else {
            report.again = self.ground.until_next_due(self.period()).await?;
        }
        Ok(report)
    }
}
