//! What ends by age: asked for in bounded batches, the oldest first.

use protocol::Stamped;

use crate::dragonfly::batch::{ROWS, stale};
use crate::dragonfly::events::{Head, Note};
use crate::dragonfly::reply::{Fields, Read, corrupt};
use crate::dragonfly::script::Script;
use crate::dragonfly::shared::{Heard, Request, Shared};
use crate::dragonfly::wakes::Wakes;
use crate::dragonfly::words::Words;
use crate::{Answer, At};

/// Something that ends by age.
pub(super) trait Overdue {
    /// What ended.
    type Ended: Send;

    const SCRIPT: Script;
    const DOING: &'static str;

    /// Reads what ended, and what the event says of it.
    fn read(fields: &mut Fields) -> Read<(Self::Ended, Note<'static>)>;

    fn wakes(ended: &Self::Ended, wakes: &mut Wakes);
}

impl Shared {
    pub(super) async fn overdue<A: Overdue>(&self, at: &At, limit: usize) -> Answer<A::Ended> {
        let mut answers = Vec::new();
        while answers.len() < limit {
            let wanted = (limit - answers.len()).min(ROWS);
            let mut words = Words::default();
            words.number(wanted);
            let request = Request { script: A::SCRIPT, epoch: at.epoch, words, doing: A::DOING };
            let answered = match self.ask(request).await? {
                Heard::Stale(epoch) => {
                    answers.push(stale(epoch));
                    return Ok(answers);
                }
                Heard::Current(answered) => answered,
            };
            let head = Head::of(&answered);
            let rows = answered.into_rows().map_err(corrupt(A::DOING))?;
            let found = rows.len();
            let mut wakes = Wakes::default();
            for mut row in rows {
                let (ended, note) = A::read(&mut row.fields).map_err(corrupt(A::DOING))?;
                if self.events.is_on() {
                    self.events.record(note.event(at, (row.order, row.verdict), &head));
                }
                A::wakes(&ended, &mut wakes);
                answers.push(Stamped::taken(head.mark(row.order), ended));
            }
            self.hub.tell(wakes);
            if found < wanted {
                break;
            }
        }
        Ok(answers)
    }
}
