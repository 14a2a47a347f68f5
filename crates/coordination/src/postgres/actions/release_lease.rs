//! `ReleaseLease`: the lease of an attempt without authority is given back.

use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step, token, worker};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::remote::wakes::Wakes;
use crate::{ReleaseLease, Wake};
use protocol::{Action, Incarnation, Token};

#[doc(alias = "ReleaseLease")]
pub(in crate::postgres) struct ReleaseLeaseRows;

impl Rows for ReleaseLeaseRows {
    type Request = ReleaseLease;
    type Effect = ();
    type Found = (Option<Incarnation>, Option<Token>);

    const DOING: &'static str = "release leases";

    fn call(statements: &Statements) -> &str {
        &statements.release_lease
    }

    fn pack(chunk: &[&ReleaseLease], params: Params) -> Params {
        params
            .ids(chunk.iter().map(|one| one.job.to_bytes()))
            .ids(chunk.iter().map(|one| one.attempt.to_bytes()))
    }

    fn found(step: &Step) -> Read<Self::Found> {
        Ok((worker(&step.row, "worker")?, token(&step.row)?))
    }

    fn note<'a>(request: &'a ReleaseLease, (worker, token): &Self::Found) -> Option<Note<'a>> {
        Some(Note {
            attempt: Some(request.attempt),
            token: *token,
            worker: *worker,
            judged: &request.judged,
            ..Note::of(Action::ReleaseLease, request.job)
        })
    }

    fn effect(_: &ReleaseLease, _: Self::Found, _: &Head) {}

    fn wakes(_: &ReleaseLease, _: &Self::Found, wakes: &mut Wakes) {
        wakes.wake(Wake::Freed);
    }
}
