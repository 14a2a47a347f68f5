//! Whether this process can claim, renew and publish now.
//!
//! Promises: each is tried, on the way that the real thing takes: a write that changes nothing goes through the durable
//! room's writer, coordination must be open in the durable room's epoch, and the target takes an object and gives it back.
//! All at once, each within two seconds. Does not remember anything, but who asks while a trial is under way is given its
//! answer: however many ask, the rooms see one trial at a time.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use durable::Configure;
use protocol::{AttemptId, JobId, Token};
use target::StageId;

use super::Direct;
use crate::port::Answer;
use crate::v1::{Code, Problem, Readiness, ReadyCheck};

/// How long each trial may take.
const BOUND: Duration = Duration::from_secs(2);
/// The job that no job is: under its name trials are published.
const NOBODY: JobId = JobId(0);

async fn tried(name: &str, trial: impl Future<Output = Answer<()>>) -> ReadyCheck {
    let begun = Instant::now();
    let (ok, text) = match tokio::time::timeout(BOUND, trial).await {
        Ok(Ok(())) => (true, format!("answered in {} ms", begun.elapsed().as_millis())),
        Ok(Err(problem)) => (false, problem.to_string()),
        Err(_) => (false, format!("gave no answer within {} s", BOUND.as_secs())),
    };
    ReadyCheck { name: name.to_owned(), ok, text }
}

impl Direct {
    pub(super) async fn try_rooms(&self) -> Readiness {
        let trial = async { Ok(self.try_each().await) };
        let Ok(readiness) = self.boards.readiness.get(self.runtime.clock.as_ref(), trial).await;
        readiness
    }

    async fn try_each(&self) -> Readiness {
        let (claim, renew, publish) = tokio::join!(
            tried("claim", self.try_claim()),
            tried("renew", self.try_renew()),
            tried("publish", self.try_publish()),
        );
        let checks = vec![claim, renew, publish];
        Readiness { ready: checks.iter().all(|check| check.ok), checks }
    }

    /// A change of nothing takes the writer, and the pool's row for writing: a standby or a read-only store refuses it.
    async fn try_claim(&self) -> Answer<()> {
        let sent = self.caller.send();
        sent.of(self.durable()?.configure(&sent.origin, &Configure::default())).await?;
        Ok(())
    }

    async fn try_renew(&self) -> Answer<()> {
        let (row, state) = (self.rooms.reads.pool().await?, self.coordination()?.pool().await?);
        let (ours, theirs) = (row.epoch, state.mark.epoch);
        if ours != theirs {
            let text = format!(
                "coordination is at epoch {theirs}, the durable store at {ours}: it is to be rebuilt"
            );
            return Err(Problem::new(Code::Unavailable, text));
        }
        if !(row.open && state.open) {
            let text = format!("coordination is being rebuilt in epoch {ours}");
            return Err(Problem::new(Code::Unavailable, text));
        }
        Ok(())
    }

    async fn try_publish(&self) -> Answer<()> {
        let attempt = AttemptId(self.runtime.new_actor_id().0);
        let stage = StageId { job: NOBODY, token: Token(0), attempt };
        let target = &self.rooms.target;
        let bytes = attempt.to_bytes().to_vec();
        let part = target.seal_bytes(&stage, 0, bytes.clone()).await?;
        let answer = target.read(&part).await;
        // What stays after a failure is old one day, and the cleaner sweeps it.
        target.sweep(&stage, &BTreeSet::new()).await?;
        match answer? == bytes {
            true => Ok(()),
            false => Err(Problem::new(Code::Damaged, "the target gave back something else than it took")),
        }
    }
}
