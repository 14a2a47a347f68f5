//! `ActivateAttempt`: the exact reservation becomes the lease of the attempt that was claimed with it.

use protocol::Action;

use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::words::Words;
use crate::{ActivateAttempt, Lease};

#[doc(alias = "ActivateAttempt")]
pub(in crate::dragonfly) struct ActivateAttemptRows;

impl Rows for ActivateAttemptRows {
    type Request = ActivateAttempt;
    type Effect = Lease;
    type Found = ();

    const SCRIPT: Script = Script::ActivateAttempt;
    const DOING: &'static str = "activate attempts";

    fn pack(chunk: &[ActivateAttempt], words: &mut Words) {
        for one in chunk {
            words.id(one.job.0);
            words.id(one.attempt.0);
            words.number(one.token);
            words.id(one.reservation.0);
            words.id(one.worker.0);
        }
    }

    fn found(_: &mut Fields, _: bool) -> Read<()> {
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
