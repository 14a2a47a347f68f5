//! Whoever goes along with attempts and changes nothing: traces.
//!
//! Promises to be told of orders to stop while an attempt executes, and of the moment in which its worker is done with it.
//! Hears of claims and verdicts from the rooms' answers, not here.

use std::fmt;
use std::sync::Arc;

use protocol::{AttemptId, JobId};

use crate::control::{AttemptControl, Stop};

/// Goes along with attempts. Nothing here may wait.
pub trait Companion: fmt::Debug + Send + Sync {
    /// The attempt was told to stop. A lost lease may be told twice.
    fn stopped(&self, attempt: AttemptId, stop: Stop);

    /// The worker is done with the attempt, whatever came of it.
    fn left(&self, attempt: AttemptId);

    /// Variables for the attempt's program, unless its job sets them.
    fn variables(&self, job: JobId, attempt: AttemptId) -> Vec<(String, String)>;
}

/// Tells of each order to stop, for as long as it is polled.
pub(crate) async fn tell_stops<T>(companion: Option<Arc<dyn Companion>>, control: &AttemptControl) -> T {
    if let Some(companion) = companion {
        let mut stops = control.stop();
        stops.mark_changed();
        while stops.changed().await.is_ok() {
            let stop = *stops.borrow_and_update();
            if stop != Stop::None {
                companion.stopped(control.attempt(), stop);
            }
        }
    }
    std::future::pending().await
}
