//! `RenewLease`: the lease is young again, and the worker learns of a cancel.

use protocol::{Action, Token};

use crate::dragonfly::actions::token;
use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::words::Words;
use crate::{RenewLease, Renewed};

#[doc(alias = "RenewLease")]
pub(in crate::dragonfly) struct RenewLeaseRows;

impl Rows for RenewLeaseRows {
    type Request = RenewLease;
    type Effect = Renewed;
    /// Whether a notice stands, and the lease's token.
    type Found = (bool, Option<Token>);

    const SCRIPT: Script = Script::RenewLease;
    const DOING: &'static str = "renew leases";

    fn pack(chunk: &[RenewLease], words: &mut Words) {
        for one in chunk {
            words.id(one.job.0);
            words.id(one.attempt.0);
            words.id(one.worker.0);
        }
    }

    fn found(fields: &mut Fields, taken: bool) -> Read<(bool, Option<Token>)> {
        let notice = taken && fields.take()?.flag()?;
        Ok((notice, token(fields)?))
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
