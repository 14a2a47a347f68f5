//! An attempt's end takes it out of `unaccounted`. No action of the spec.

use crate::Wake;
use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::remote::wakes::Wakes;
use protocol::AttemptId;

pub(in crate::postgres) struct SettleRows;

impl Rows for SettleRows {
    type Request = AttemptId;
    type Effect = ();
    type Found = bool;

    const DOING: &'static str = "settle attempts";

    fn call(statements: &Statements) -> &str {
        &statements.settle
    }

    fn pack(chunk: &[&AttemptId], params: Params) -> Params {
        params.ids(chunk.iter().map(|attempt| attempt.to_bytes()))
    }

    fn found(step: &Step) -> Read<bool> {
        step.flag()
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
