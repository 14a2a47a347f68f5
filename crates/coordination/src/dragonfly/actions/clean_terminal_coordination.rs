//! `CleanTerminalCoordination`: entry, reservation, notice and progress of a terminal job go away.

use protocol::{Action, ReservationId};

use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::Words;
use crate::{CleanTerminal, Wake};

#[doc(alias = "CleanTerminalCoordination")]
pub(in crate::dragonfly) struct CleanTerminalRows;

impl Rows for CleanTerminalRows {
    type Request = CleanTerminal;
    type Effect = ();
    /// The reservation that went with it.
    type Found = Option<ReservationId>;

    const SCRIPT: Script = Script::CleanTerminalCoordination;
    const DOING: &'static str = "clean what is held of terminal jobs";

    fn pack(chunk: &[CleanTerminal], words: &mut Words) {
        chunk.iter().for_each(|one| words.id(one.job.0));
    }

    fn found(fields: &mut Fields, _: bool) -> Read<Option<ReservationId>> {
        Ok(fields.take()?.id_if_any()?.map(ReservationId))
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
