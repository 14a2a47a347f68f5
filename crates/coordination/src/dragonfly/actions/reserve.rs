//! `Reserve`: the first entry of the windows named becomes a place of one worker, once per reservation id.

use protocol::{Action, Fault, JobId, Stamped, Step, limit};

use super::must;
use crate::dragonfly::batch::stale;
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read, Row, Verdict, corrupt};
use crate::dragonfly::script::Script;
use crate::dragonfly::shared::{Heard, Request, Shared};
use crate::dragonfly::words::{Words, read_window, window_text};
use crate::{Answer, At, Reserve, Reserved};

/// Places that one script gives, at most.
const IDS: usize = 16;
const DOING: &str = "reserve places";

impl Shared {
    #[doc(alias = "Reserve")]
    pub(in crate::dragonfly) async fn reserve(&self, at: &At, request: &Reserve) -> Answer<Reserved> {
        let mut answers = Vec::with_capacity(request.reservations.len());
        for ids in request.reservations.chunks(IDS) {
            let mut words = Words::default();
            words.id(request.worker.0);
            words.number(ids.len());
            ids.iter().for_each(|id| words.id(id.0));
            for window in request.windows.iter().take(limit::RESERVE_WINDOWS) {
                words.text(window_text(window));
                words.number(window.priority.0);
                words.text(window.queue.as_str());
            }
            let ask = Request { script: Script::Reserve, epoch: at.epoch, words, doing: DOING };
            match self.ask(ask).await? {
                Heard::Stale(epoch) => answers.extend(ids.iter().map(|_| stale(epoch))),
                Heard::Current(answered) => {
                    let head = Head::of(&answered);
                    for (id, row) in ids.iter().zip(answered.into_rows().map_err(corrupt(DOING))?) {
                        answers.push(self.reserved(at, request, *id, (row, &head))?);
                    }
                }
            }
        }
        Ok(answers)
    }

    fn reserved(
        &self,
        at: &At,
        request: &Reserve,
        reservation: protocol::ReservationId,
        (mut row, head): (Row, &Head),
    ) -> Result<Stamped<Reserved>, Fault> {
        let taken = matches!(row.verdict, Verdict::Taken { .. });
        let job = job(&mut row.fields).map_err(corrupt(DOING))?;
        if row.recorded
            && self.events.is_on()
            && let Some(job) = job
        {
            let note = Note::of(Action::Reserve, job);
            let note = Note { worker: Some(request.worker), reservation: Some(reservation), ..note };
            self.events.record(note.event(at, (row.order, row.verdict), head));
        }
        let step = match row.verdict {
            Verdict::Refused(guard) => Step::Refused(guard),
            Verdict::Taken { .. } => {
                debug_assert!(taken, "read above");
                Step::Taken(place(&mut row.fields, job, reservation, head).map_err(corrupt(DOING))?)
            }
        };
        Ok(Stamped { mark: head.mark(row.order), step })
    }
}

/// The job, where the row names one.
fn job(fields: &mut Fields) -> Read<Option<JobId>> {
    if fields.are_left() { fields.take()?.id().map(|id| Some(JobId(id))) } else { Ok(None) }
}

fn place(
    fields: &mut Fields,
    job: Option<JobId>,
    reservation: protocol::ReservationId,
    head: &Head,
) -> Read<Reserved> {
    Ok(Reserved {
        reservation,
        job: must(job, "job")?,
        window: read_window(fields.take()?.text()?)?,
        checkpoint_revision: fields.take()?.number()?,
        lease_ms: head.lease_ms,
    })
}
