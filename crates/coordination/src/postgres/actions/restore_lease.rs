//! `RestoreLease`: after a loss, a worker that still executes puts its lease back.

use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::{Lease, RestoreLease};
use protocol::Action;

#[doc(alias = "RestoreLease")]
pub(in crate::postgres) struct RestoreLeaseRows;

impl Rows for RestoreLeaseRows {
    type Request = RestoreLease;
    type Effect = Lease;
    type Found = ();

    const DOING: &'static str = "restore leases";

    fn call(statements: &Statements) -> &str {
        &statements.restore_lease
    }

    fn pack(chunk: &[&RestoreLease], params: Params) -> Params {
        params
            .ids(chunk.iter().map(|one| one.job.to_bytes()))
            .ids(chunk.iter().map(|one| one.attempt.to_bytes()))
            .bigs(chunk.iter().map(|one| one.token.0.into()))
            .ids(chunk.iter().map(|one| one.worker.to_bytes()))
    }

    fn found(_: &Step) -> Read<()> {
        Ok(())
    }

    fn note<'a>(request: &'a RestoreLease, (): &()) -> Option<Note<'a>> {
        Some(Note {
            attempt: Some(request.attempt),
            token: Some(request.token),
            worker: Some(request.worker),
            judged: &request.judged,
            ..Note::of(Action::RestoreLease, request.job)
        })
    }

    fn effect(_: &RestoreLease, (): (), head: &Head) -> Lease {
        Lease { lease_ms: head.lease_ms }
    }
}
