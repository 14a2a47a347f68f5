//! `Reserve`: the first entry of the windows named becomes a place of one worker, once per reservation id.

use protocol::{Action, ReservationId, Stamped, Window, limit};

use crate::postgres::batch::{ROWS, stale};
use crate::postgres::desk::{Desk, Heard, is_text, named};
use crate::postgres::reply::{Read, Step, job, must, window};
use crate::remote::events::{Head, Note, Verdict};
use crate::{Answer, At, Reserve, Reserved};

const DOING: &str = "reserve places";

impl Desk {
    #[doc(alias = "Reserve")]
    pub(in crate::postgres) async fn reserve(&self, at: &At, request: &Reserve) -> Answer<Reserved> {
        let mut answers = Vec::with_capacity(request.reservations.len());
        // A window whose name cannot be stored has no entries.
        let fits = |window: &&Window| is_text(&window.queue) && is_text(&window.kind);
        let windows: Vec<_> = request.windows.iter().take(limit::RESERVE_WINDOWS).filter(fits).collect();
        for ids in request.reservations.chunks(ROWS) {
            let params = self.first(at.epoch).id(request.worker.to_bytes());
            let params = named(windows.iter().copied(), params.ids(ids.iter().map(|id| id.to_bytes())));
            match self.ask(at.epoch, (&self.statements.reserve, &params), DOING).await? {
                Heard::Stale(epoch) => answers.extend(ids.iter().map(|_| stale(epoch))),
                Heard::Current(answered) => {
                    let head = answered.head;
                    for (id, step) in ids.iter().zip(self.sound(answered.into_steps(), DOING)?) {
                        let reserved = self.reserved((at, request, *id), &step, &head);
                        answers.push(self.sound(reserved, DOING)?);
                    }
                }
            }
        }
        Ok(answers)
    }

    fn reserved(
        &self,
        (at, request, reservation): (&At, &Reserve, ReservationId),
        step: &Step,
        head: &Head,
    ) -> Read<Stamped<Reserved>> {
        let job = job(&step.row)?;
        if step.recorded
            && self.events.is_on()
            && let Some(job) = job
        {
            let note = Note::of(Action::Reserve, job);
            let note = Note { worker: Some(request.worker), reservation: Some(reservation), ..note };
            self.events.record(note.event(at, (step.order, step.verdict), head));
        }
        let mark = head.mark(step.order);
        if let Verdict::Refused(guard) = step.verdict {
            return Ok(Stamped::refused(mark, guard));
        }
        let checkpoint_revision: Option<i64> = pg::get(&step.row, "checkpoint_revision")?;
        let reserved = Reserved {
            reservation,
            job: must(job, "job")?,
            window: window(&step.row)?,
            checkpoint_revision: must(checkpoint_revision, "checkpoint revision")?.cast_unsigned(),
            lease_ms: head.lease_ms,
        };
        Ok(Stamped::taken(mark, reserved))
    }
}
