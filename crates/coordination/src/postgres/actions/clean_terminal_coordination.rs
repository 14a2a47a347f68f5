//! `CleanTerminalCoordination`: entry, reservation, notice and progress of a terminal job go away.

use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step, reservation};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::remote::wakes::Wakes;
use crate::{CleanTerminal, Wake};
use protocol::{Action, ReservationId};

#[doc(alias = "CleanTerminalCoordination")]
pub(in crate::postgres) struct CleanTerminalRows;

impl Rows for CleanTerminalRows {
    type Request = CleanTerminal;
    type Effect = ();
    /// The reservation that went with it.
    type Found = Option<ReservationId>;

    const DOING: &'static str = "clean what is held of terminal jobs";

    fn call(statements: &Statements) -> &str {
        &statements.clean_terminal_coordination
    }

    fn pack(chunk: &[&CleanTerminal], params: Params) -> Params {
        params.ids(chunk.iter().map(|one| one.job.to_bytes()))
    }

    fn found(step: &Step) -> Read<Option<ReservationId>> {
        reservation(&step.row)
    }

    fn note<'a>(request: &'a CleanTerminal, reservation: &Option<ReservationId>) -> Option<Note<'a>> {
        Some(Note {
            reservation: *reservation,
            judged: &request.judged,
            ..Note::of(Action::CleanTerminalCoordination, request.job)
        })
    }

    fn effect(_: &CleanTerminal, _: Option<ReservationId>, _: &Head) {}

    fn wakes(_: &CleanTerminal, reservation: &Option<ReservationId>, wakes: &mut Wakes) {
        if reservation.is_some() {
            wakes.wake(Wake::Freed);
        }
    }
}
