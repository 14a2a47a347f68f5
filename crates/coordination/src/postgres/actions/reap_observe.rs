//! `ReapObserve`: a reaper sees that an attempt has neither a live lease nor a reservation of its own worker.

use crate::ReapObserve;
use crate::postgres::batch::Rows;
use crate::postgres::desk::big;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use protocol::Action;

#[doc(alias = "ReapObserve")]
pub(in crate::postgres) struct ReapObserveRows;

impl Rows for ReapObserveRows {
    type Request = ReapObserve;
    type Effect = ();
    type Found = ();

    const DOING: &'static str = "observe attempts";

    fn call(statements: &Statements) -> &str {
        &statements.reap_observe
    }

    fn pack(chunk: &[&ReapObserve], params: Params) -> Params {
        params
            .ids(chunk.iter().map(|one| one.job.to_bytes()))
            .ids(chunk.iter().map(|one| one.attempt.to_bytes()))
            .ids(chunk.iter().map(|one| one.worker.to_bytes()))
            .bigs(chunk.iter().map(|one| big(one.claimed_epoch)))
            .bools(chunk.iter().map(|one| one.by_holder))
    }

    fn found(_: &Step) -> Read<()> {
        Ok(())
    }

    fn note<'a>(request: &'a ReapObserve, (): &()) -> Option<Note<'a>> {
        Some(Note {
            attempt: Some(request.attempt),
            worker: Some(request.worker),
            ..Note::of(Action::ReapObserve, request.job)
        })
    }

    fn effect(_: &ReapObserve, (): (), _: &Head) {}
}
