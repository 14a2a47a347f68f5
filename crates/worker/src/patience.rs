//! Asking a store until it answers.

use std::future::Future;
use std::time::Duration;

use protocol::{Fault, FaultKind};

use crate::session::Session;

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Session {
    /// Repeats a request, which carries its own ids, until there is an answer. Gives up on bad data, and
    /// when `give_up` says so between two tries.
    pub(crate) async fn until_answered<T, F, G>(
        &self,
        give_up: G,
        mut ask: impl FnMut() -> F + Send,
    ) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>> + Send,
        G: Fn() -> bool + Send + Sync,
    {
        let mut pause = FIRST_PAUSE;
        loop {
            match ask().await {
                Ok(answer) => return Ok(answer),
                Err(fault) if fault.kind == FaultKind::Corrupt || give_up() => return Err(fault),
                Err(fault) => {
                    tracing::debug!(error = %fault, "no answer, asking again");
                    let spread = self.runtime.rng.next_u64() % 50 + 75;
                    self.runtime.clock.sleep(pause * u32::try_from(spread).unwrap_or(100) / 100).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// The same for a batch of one: its one answer.
    pub(crate) async fn until_one_answered<T, F, G>(
        &self,
        give_up: G,
        doing: &str,
        mut ask: impl FnMut() -> F + Send,
    ) -> Result<T, Fault>
    where
        F: Future<Output = Result<Vec<T>, Fault>> + Send,
        G: Fn() -> bool + Send + Sync,
    {
        self.until_answered(give_up, || {
            let answers = ask();
            async { only(answers.await?, doing) }
        })
        .await
    }
}

/// The one answer to a batch of one.
fn only<T>(mut answers: Vec<T>, doing: &str) -> Result<T, Fault> {
    match (answers.pop(), answers.is_empty()) {
        (Some(answer), true) => Ok(answer),
        _ => Err(Fault::new(FaultKind::Corrupt, format!("read the one answer when trying to {doing}"))),
    }
}
