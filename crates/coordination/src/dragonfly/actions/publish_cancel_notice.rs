//! `PublishCancelNotice`: the worker is told of a cancel, at its next renewal at the latest.

use protocol::Action;

use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::Words;
use crate::{PublishCancelNotice, Wake};

#[doc(alias = "PublishCancelNotice")]
pub(in crate::dragonfly) struct PublishCancelNoticeRows;

impl Rows for PublishCancelNoticeRows {
    type Request = PublishCancelNotice;
    type Effect = ();
    type Found = ();

    const SCRIPT: Script = Script::PublishCancelNotice;
    const DOING: &'static str = "publish cancel notices";

    fn pack(chunk: &[PublishCancelNotice], words: &mut Words) {
        chunk.iter().for_each(|one| words.id(one.job.0));
    }

    fn found(_: &mut Fields, _: bool) -> Read<()> {
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
