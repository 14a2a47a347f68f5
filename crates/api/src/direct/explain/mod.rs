//! `why` and `inspect`.
//!
//! Promises: every reason follows from what the rooms hold at that moment, and names it; the durable room is read before
//! and after coordination, so that both tell of the same revision of the job; a room that is away is named and nothing
//! is said of what it holds. Does not change anything: of a job that nobody offers it asks the agents once to look, which
//! is a hint. The spec speaks of what must come next as its fairness conditions; protocol §1 says who is to do it.

mod checks;
mod facts;
mod inspect;
mod living;
mod next;
mod story;
mod waiting;
mod words;

#[cfg(all(test, feature = "conformance"))]
mod silent;
#[cfg(all(test, feature = "conformance"))]
mod tests;

use std::time::Duration;

use coordination::Wake;
use protocol::{JobId, Phase};
use tokio::sync::broadcast::error::RecvError;

use super::Direct;
use crate::port::Answer;
use crate::v1::{Because, ReasonCode, Why};
use facts::Facts;

/// A job that is due for longer and not offered is a sign that nobody offers any.
const PATIENCE_MS: u64 = 5_000;
/// How long agents that were asked to look are waited for. A dispatcher offers a job again after two seconds.
const ASKED: Duration = Duration::from_secs(3);

fn because(facts: &Facts) -> Vec<Because> {
    match facts.view.summary.phase {
        Phase::Queued | Phase::RetryWait => waiting::reasons(facts),
        Phase::Running => living::running(facts),
        Phase::Cancelling => living::cancelling(facts),
        Phase::Succeeded | Phase::Failed | Phase::Cancelled => vec![living::ended(facts)],
    }
}

fn not_offered(facts: &Facts, because: &[Because]) -> bool {
    facts.waited_ms() > PATIENCE_MS && because.iter().any(|reason| reason.code == ReasonCode::NotOffered)
}

impl Direct {
    pub(super) async fn explain(&self, job: JobId) -> Answer<Why> {
        let mut facts = self.facts(job).await?;
        let mut because = because(&facts);
        if not_offered(&facts, &because) {
            self.ask_agents(&facts).await;
            facts = self.facts(job).await?;
            because = self::because(&facts);
            if not_offered(&facts, &because) {
                waiting::nobody_offers(&facts, ASKED, &mut because);
            }
        }
        let summary = because.first().map(|reason| reason.text.clone()).unwrap_or_default();
        Ok(Why {
            job,
            phase: facts.view.summary.phase,
            summary,
            attempts: story::of_attempts(&facts),
            next: next::expected(&facts, &because),
            away: facts.away(),
            because,
        })
    }

    /// Asks whoever dispatches to look at the job, and waits until its window gets an entry.
    async fn ask_agents(&self, facts: &Facts) {
        let Some(coordination) = &self.rooms.coordination else { return };
        let mut wakes = coordination.wakes();
        if coordination.nudge(&[facts.view.summary.job]).await.is_err() {
            return;
        }
        let offered = async {
            loop {
                match wakes.recv().await {
                    Ok(Wake::Queued(window)) if window == facts.window() => return,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return std::future::pending().await,
                }
            }
        };
        // Whether one came or not, the rooms are read again.
        let _ = tokio::time::timeout(ASKED, offered).await;
    }
}
