//! `ReleaseLease`: the lease of an attempt without authority is given back.

use protocol::{Action, Incarnation, Token};

use crate::dragonfly::actions::{token, worker};
use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::Words;
use crate::{ReleaseLease, Wake};

#[doc(alias = "ReleaseLease")]
pub(in crate::dragonfly) struct ReleaseLeaseRows;

impl Rows for ReleaseLeaseRows {
    type Request = ReleaseLease;
    type Effect = ();
    type Found = (Option<Incarnation>, Option<Token>);

    const SCRIPT: Script = Script::ReleaseLease;
    const DOING: &'static str = "release leases";

    fn pack(chunk: &[ReleaseLease], words: &mut Words) {
        for one in chunk {
            words.id(one.job.0);
            words.id(one.attempt.0);
        }
    }

    fn found(fields: &mut Fields, _: bool) -> Read<Self::Found> {
        Ok((worker(fields)?, token(fields)?))
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
