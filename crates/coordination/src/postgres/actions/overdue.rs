//! What ends by age: asked for in bounded batches, the oldest first.

use protocol::Stamped;

use crate::postgres::batch::{ROWS, stale};
use crate::postgres::desk::{Desk, Heard};
use crate::postgres::reply::{Read, Step};
use crate::postgres::statements::Statements;
use crate::remote::events::Note;
use crate::remote::wakes::Wakes;
use crate::{Answer, At};

/// Something that ends by age.
pub(super) trait Overdue {
    /// What ended.
    type Ended: Send;

    const DOING: &'static str;

    fn call(statements: &Statements) -> &str;

    /// Reads what ended, and what the event says of it.
    fn read(step: &Step) -> Read<(Self::Ended, Note<'static>)>;

    fn wakes(ended: &Self::Ended, wakes: &mut Wakes);
}

impl Desk {
    pub(super) async fn overdue<A: Overdue>(&self, at: &At, limit: usize) -> Answer<A::Ended> {
        let mut answers = Vec::new();
        while answers.len() < limit {
            let wanted = (limit - answers.len()).min(ROWS);
            let most = i32::try_from(wanted).expect("it is at most a call's rows");
            let params = self.first(at.epoch).small(most);
            let answered = match self.ask(at.epoch, (A::call(&self.statements), &params), A::DOING).await? {
                Heard::Stale(epoch) => {
                    answers.push(stale(epoch));
                    return Ok(answers);
                }
                Heard::Current(answered) => answered,
            };
            let head = answered.head;
            let steps = self.sound(answered.into_steps(), A::DOING)?;
            let found = steps.len();
            let mut wakes = Wakes::default();
            for step in steps {
                let (ended, note) = self.sound(A::read(&step), A::DOING)?;
                if self.events.is_on() {
                    self.events.record(note.event(at, (step.order, step.verdict), &head));
                }
                A::wakes(&ended, &mut wakes);
                answers.push(Stamped::taken(head.mark(step.order), ended));
            }
            self.hub.tell(wakes);
            if found < wanted {
                break;
            }
        }
        Ok(answers)
    }
}
