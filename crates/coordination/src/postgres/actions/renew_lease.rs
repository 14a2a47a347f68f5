//! `RenewLease`: the lease is young again, and the worker learns of a cancel.

use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step, token};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::{RenewLease, Renewed};
use protocol::{Action, Token};

#[doc(alias = "RenewLease")]
pub(in crate::postgres) struct RenewLeaseRows;

impl Rows for RenewLeaseRows {
    type Request = RenewLease;
    type Effect = Renewed;
    /// Whether a notice stands, and the lease's token.
    type Found = (bool, Option<Token>);

    const DOING: &'static str = "renew leases";

    fn call(statements: &Statements) -> &str {
        &statements.renew_lease
    }

    fn pack(chunk: &[&RenewLease], params: Params) -> Params {
        params
            .ids(chunk.iter().map(|one| one.job.to_bytes()))
            .ids(chunk.iter().map(|one| one.attempt.to_bytes()))
            .ids(chunk.iter().map(|one| one.worker.to_bytes()))
    }

    fn found(step: &Step) -> Read<Self::Found> {
        Ok((step.flag()?, token(&step.row)?))
    }

    fn note<'a>(request: &'a RenewLease, (_, token): &Self::Found) -> Option<Note<'a>> {
        Some(Note {
            attempt: Some(request.attempt),
            token: *token,
            worker: Some(request.worker),
            ..Note::of(Action::RenewLease, request.job)
        })
    }

    fn effect(_: &RenewLease, (cancel_notice, _): Self::Found, head: &Head) -> Renewed {
        Renewed { lease_ms: head.lease_ms, cancel_notice }
    }
}
