//! `ReapObserve`: a reaper sees that an attempt has neither a live lease nor a reservation of its own worker.

use protocol::Action;

use crate::ReapObserve;
use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::words::Words;

#[doc(alias = "ReapObserve")]
pub(in crate::dragonfly) struct ReapObserveRows;

impl Rows for ReapObserveRows {
    type Request = ReapObserve;
    type Effect = ();
    type Found = ();

    const SCRIPT: Script = Script::ReapObserve;
    const DOING: &'static str = "observe attempts";

    fn pack(chunk: &[ReapObserve], words: &mut Words) {
        for one in chunk {
            words.id(one.job.0);
            words.id(one.attempt.0);
            words.id(one.worker.0);
            words.number(one.claimed_epoch);
            words.number(u8::from(one.by_holder));
        }
    }

    fn found(_: &mut Fields, _: bool) -> Read<()> {
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
