//! `ExpireLease`: leases past their length end.

use protocol::Action;

use super::overdue::Overdue;
use crate::postgres::desk::Desk;
use crate::postgres::reply::{Read, Step, attempt, job, must, token, worker};
use crate::postgres::statements::Statements;
use crate::remote::events::Note;
use crate::remote::wakes::Wakes;
use crate::{Answer, At, ExpiredLease, Wake};

struct ExpireLease;

impl Desk {
    #[doc(alias = "ExpireLease")]
    pub(in crate::postgres) async fn expire_lease(&self, at: &At, limit: usize) -> Answer<ExpiredLease> {
        self.overdue::<ExpireLease>(at, limit).await
    }
}

impl Overdue for ExpireLease {
    type Ended = ExpiredLease;

    const DOING: &'static str = "expire leases";

    fn call(statements: &Statements) -> &str {
        &statements.expire_lease
    }

    fn read(step: &Step) -> Read<(ExpiredLease, Note<'static>)> {
        let job = must(job(&step.row)?, "job")?;
        let attempt = must(attempt(&step.row)?, "attempt")?;
        let worker = must(worker(&step.row, "worker")?, "worker")?;
        let token = must(token(&step.row)?, "token")?;
        let note = Note::of(Action::ExpireLease, job);
        let note = Note { attempt: Some(attempt), token: Some(token), worker: Some(worker), ..note };
        Ok((ExpiredLease { job, attempt, worker }, note))
    }

    fn wakes(_: &ExpiredLease, wakes: &mut Wakes) {
        wakes.wake(Wake::Freed);
    }
}
