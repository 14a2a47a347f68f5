//! `ExpireLease`: leases past their length end.

use protocol::{Action, AttemptId, Incarnation, JobId};

use super::overdue::Overdue;
use super::{must, token};
use crate::dragonfly::events::Note;
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::shared::Shared;
use crate::dragonfly::wakes::Wakes;
use crate::{Answer, At, ExpiredLease, Wake};

struct ExpireLease;

impl Shared {
    #[doc(alias = "ExpireLease")]
    pub(in crate::dragonfly) async fn expire_lease(&self, at: &At, limit: usize) -> Answer<ExpiredLease> {
        self.overdue::<ExpireLease>(at, limit).await
    }
}

impl Overdue for ExpireLease {
    type Ended = ExpiredLease;

    const SCRIPT: Script = Script::ExpireLease;
    const DOING: &'static str = "expire leases";

    fn read(fields: &mut Fields) -> Read<(ExpiredLease, Note<'static>)> {
        let job = JobId(fields.take()?.id()?);
        let attempt = AttemptId(fields.take()?.id()?);
        let worker = Incarnation(fields.take()?.id()?);
        let token = must(token(fields)?, "token")?;
        let note = Note::of(Action::ExpireLease, job);
        let note = Note { attempt: Some(attempt), token: Some(token), worker: Some(worker), ..note };
        Ok((ExpiredLease { job, attempt, worker }, note))
    }

    fn wakes(_: &ExpiredLease, wakes: &mut Wakes) {
        wakes.wake(Wake::Freed);
    }
}
