//! `FalseSuspicion`: reservations past their deadline end, though their workers may live.

use protocol::{Action, Incarnation, JobId, ReservationId};

use super::overdue::Overdue;
use crate::dragonfly::events::Note;
use crate::dragonfly::reply::{Fields, Read};
use crate::dragonfly::script::Script;
use crate::dragonfly::shared::Shared;
use crate::dragonfly::wakes::Wakes;
use crate::{Answer, At, DroppedReservation};

struct FalseSuspicion;

impl Shared {
    #[doc(alias = "FalseSuspicion")]
    pub(in crate::dragonfly) async fn false_suspicion(
        &self,
        at: &At,
        limit: usize,
    ) -> Answer<DroppedReservation> {
        self.overdue::<FalseSuspicion>(at, limit).await
    }
}

impl Overdue for FalseSuspicion {
    type Ended = DroppedReservation;

    const SCRIPT: Script = Script::FalseSuspicion;
    const DOING: &'static str = "drop reservations past their deadline";

    fn read(fields: &mut Fields) -> Read<(DroppedReservation, Note<'static>)> {
        let job = JobId(fields.take()?.id()?);
        let reservation = ReservationId(fields.take()?.id()?);
        let worker = Incarnation(fields.take()?.id()?);
        let note = Note::of(Action::FalseSuspicion, job);
        let note = Note { worker: Some(worker), reservation: Some(reservation), ..note };
        Ok((DroppedReservation { job, reservation, worker }, note))
    }

    fn wakes(dropped: &DroppedReservation, wakes: &mut Wakes) {
        wakes.give_back(dropped.job);
    }
}
