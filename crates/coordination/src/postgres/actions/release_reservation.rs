//! `ReleaseReservation`: a place that nobody will use is taken back.

use crate::ReleaseReservation;
use crate::postgres::batch::Rows;
use crate::postgres::params::Params;
use crate::postgres::reply::{Read, Step, worker};
use crate::postgres::statements::Statements;
use crate::remote::events::{Head, Note};
use crate::remote::wakes::Wakes;
use protocol::{Action, Incarnation};

#[doc(alias = "ReleaseReservation")]
pub(in crate::postgres) struct ReleaseReservationRows;

impl Rows for ReleaseReservationRows {
    type Request = ReleaseReservation;
    type Effect = ();
    type Found = Option<Incarnation>;

    const DOING: &'static str = "release reservations";

    fn call(statements: &Statements) -> &str {
        &statements.release_reservation
    }

    fn pack(chunk: &[&ReleaseReservation], params: Params) -> Params {
        params
            .ids(chunk.iter().map(|one| one.job.to_bytes()))
            .ids(chunk.iter().map(|one| one.reservation.to_bytes()))
    }

    fn found(step: &Step) -> Read<Option<Incarnation>> {
        worker(&step.row, "worker")
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
