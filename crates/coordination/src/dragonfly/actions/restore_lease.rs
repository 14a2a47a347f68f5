//! `RestoreLease`: after a loss, a worker that still executes puts its lease back.

use protocol::Action;

use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::words::Words;
use crate::{Lease, RestoreLease};

#[doc(alias = "RestoreLease")]
pub(in crate::dragonfly) struct RestoreLeaseRows;

impl Rows for RestoreLeaseRows {
    type Request = RestoreLease;
    type Effect = Lease;
    type Found = ();

    const SCRIPT: Script = Script::RestoreLease;
    const DOING: &'static str = "restore leases";

    fn pack(chunk: &[RestoreLease], words: &mut Words) {
        for one in chunk {
            words.id(one.job.0);
            words.id(one.attempt.0);
            words.number(one.token);
            words.id(one.worker.0);
        }
    }

    fn found(_: &mut Fields, _: bool) -> Read<()> {
        Ok(())
    }

    fn note<'a>(request: &'a RestoreLease, (): &()) -> Option<Note<'a>> {
        Some(Note {
            attempt: Some(request.attempt),
            token: Some(request.token),
            worker: Some(request.worker),
            judged: &request.judged,
            ..Note::of(Action::RestoreLease, request.job)
        })
    }

    fn effect(_: &RestoreLease, (): (), head: &Head) -> Lease {
        Lease { lease_ms: head.lease_ms }
    }
}
