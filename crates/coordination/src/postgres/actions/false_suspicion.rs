//! `FalseSuspicion`: reservations past their deadline end, though their workers may live.

use protocol::Action;

use super::overdue::Overdue;
use crate::postgres::desk::Desk;
use crate::postgres::reply::{Read, Step, job, must, reservation, worker};
use crate::postgres::statements::Statements;
use crate::remote::events::Note;
use crate::remote::wakes::Wakes;
use crate::{Answer, At, DroppedReservation};

struct FalseSuspicion;

impl Desk {
    #[doc(alias = "FalseSuspicion")]
    pub(in crate::postgres) async fn false_suspicion(
        &self,
        at: &At,
        limit: usize,
    ) -> Answer<DroppedReservation> {
        self.overdue::<FalseSuspicion>(at, limit).await
    }
}

impl Overdue for FalseSuspicion {
    type Ended = DroppedReservation;

    const DOING: &'static str = "drop reservations past their deadline";

    fn call(statements: &Statements) -> &str {
        &statements.false_suspicion
    }

    fn read(step: &Step) -> Read<(DroppedReservation, Note<'static>)> {
        let job = must(job(&step.row)?, "job")?;
        let reservation = must(reservation(&step.row)?, "reservation")?;
        let worker = must(worker(&step.row, "worker")?, "worker")?;
        let note = Note::of(Action::FalseSuspicion, job);
        let note = Note { worker: Some(worker), reservation: Some(reservation), ..note };
        Ok((DroppedReservation { job, reservation, worker }, note))
    }

    fn wakes(dropped: &DroppedReservation, wakes: &mut Wakes) {
        wakes.give_back(dropped.job);
    }
}
