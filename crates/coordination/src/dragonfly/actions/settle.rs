//! An attempt's end takes it out of `unaccounted`. No action of the spec.

use protocol::AttemptId;

use crate::Wake;
use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::Words;

pub(in crate::dragonfly) struct SettleRows;

impl Rows for SettleRows {
    type Request = AttemptId;
    type Effect = ();
    type Found = bool;

    const SCRIPT: Script = Script::Settle;
    const DOING: &'static str = "settle attempts";

    fn pack(chunk: &[AttemptId], words: &mut Words) {
        chunk.iter().for_each(|attempt| words.id(attempt.0));
    }

    fn found(fields: &mut Fields, taken: bool) -> Read<bool> {
        Ok(taken && fields.take()?.flag()?)
    }

    fn note<'a>(_: &'a AttemptId, _: &bool) -> Option<Note<'a>> {
        None
    }

    fn effect(_: &AttemptId, _: bool, _: &Head) {}

    fn wakes(_: &AttemptId, freed: &bool, wakes: &mut Wakes) {
        if *freed {
            wakes.wake(Wake::Freed);
        }
    }
}
