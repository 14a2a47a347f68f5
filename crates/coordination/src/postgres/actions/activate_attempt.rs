//! `ActivateAttempt`: the exact reservation becomes the lease of the attempt that was claimed with it.

use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::{ActivateAttempt, Lease};
use protocol::Action;

#[doc(alias = "ActivateAttempt")]
pub(in crate::postgres) struct ActivateAttemptRows;

impl Rows for ActivateAttemptRows {
    type Request = ActivateAttempt;
    type Effect = Lease;
    type Found = ();

    const DOING: &'static str = "activate attempts";

    fn call(statements: &Statements) -> &str {
        &statements.activate_attempt
    }

    fn pack(chunk: &[&ActivateAttempt], params: Params) -> Params {
        params
            .ids(chunk.iter().map(|one| one.job.to_bytes()))
            .ids(chunk.iter().map(|one| one.attempt.to_bytes()))
            .bigs(chunk.iter().map(|one| one.token.0.into()))
            .ids(chunk.iter().map(|one| one.reservation.to_bytes()))
            .ids(chunk.iter().map(|one| one.worker.to_bytes()))
    }

    fn found(_: &Step) -> Read<()> {
        Ok(())
    }

    fn note<'a>(request: &'a ActivateAttempt, (): &()) -> Option<Note<'a>> {
        Some(Note {
            attempt: Some(request.attempt),
            token: Some(request.token),
            worker: Some(request.worker),
            reservation: Some(request.reservation),
            judged: &request.judged,
            ..Note::of(Action::ActivateAttempt, request.job)
        })
    }

    fn effect(_: &ActivateAttempt, (): (), head: &Head) -> Lease {
        Lease { lease_ms: head.lease_ms }
    }
}
