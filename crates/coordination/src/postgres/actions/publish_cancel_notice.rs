//! `PublishCancelNotice`: the worker is told of a cancel, at its next renewal at the latest.

use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::remote::wakes::Wakes;
use crate::{PublishCancelNotice, Wake};
use protocol::Action;

#[doc(alias = "PublishCancelNotice")]
pub(in crate::postgres) struct PublishCancelNoticeRows;

impl Rows for PublishCancelNoticeRows {
    type Request = PublishCancelNotice;
    type Effect = ();
    type Found = ();

    const DOING: &'static str = "publish cancel notices";

    fn call(statements: &Statements) -> &str {
        &statements.publish_cancel_notice
    }

    fn pack(chunk: &[&PublishCancelNotice], params: Params) -> Params {
        params.ids(chunk.iter().map(|one| one.job.to_bytes()))
    }

    fn found(_: &Step) -> Read<()> {
        Ok(())
    }

    fn note<'a>(request: &'a PublishCancelNotice, (): &()) -> Option<Note<'a>> {
        Some(Note {
            attempt: Some(request.attempt),
            judged: &request.judged,
            ..Note::of(Action::PublishCancelNotice, request.job)
        })
    }

    fn effect(_: &PublishCancelNotice, (): (), _: &Head) {}

    fn wakes(request: &PublishCancelNotice, (): &(), wakes: &mut Wakes) {
        wakes.wake(Wake::CancelNotice(request.job));
    }
}
