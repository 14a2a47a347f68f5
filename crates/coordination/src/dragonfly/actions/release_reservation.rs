//! `ReleaseReservation`: a place that nobody will use is taken back.

use protocol::{Action, Incarnation};

use crate::ReleaseReservation;
use crate::dragonfly::actions::worker;
use crate::dragonfly::batch::Rows;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::Words;

#[doc(alias = "ReleaseReservation")]
pub(in crate::dragonfly) struct ReleaseReservationRows;

impl Rows for ReleaseReservationRows {
    type Request = ReleaseReservation;
    type Effect = ();
    type Found = Option<Incarnation>;

    const SCRIPT: Script = Script::ReleaseReservation;
    const DOING: &'static str = "release reservations";

    fn pack(chunk: &[ReleaseReservation], words: &mut Words) {
        for one in chunk {
            words.id(one.job.0);
            words.id(one.reservation.0);
        }
    }

    fn found(fields: &mut Fields, _: bool) -> Read<Option<Incarnation>> {
        worker(fields)
    }

    fn note<'a>(request: &'a ReleaseReservation, worker: &Option<Incarnation>) -> Option<Note<'a>> {
        Some(Note {
            worker: *worker,
            reservation: Some(request.reservation),
            judged: &request.judged,
            ..Note::of(Action::ReleaseReservation, request.job)
        })
    }

    fn effect(_: &ReleaseReservation, _: Option<Incarnation>, _: &Head) {}

    fn wakes(request: &ReleaseReservation, _: &Option<Incarnation>, wakes: &mut Wakes) {
        wakes.give_back(request.job);
    }
}
