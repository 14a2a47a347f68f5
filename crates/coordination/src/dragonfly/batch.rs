//! Batches: split to the scripts' bound, packed, sent, and read row by row.
//!
//! Promises: each row is atomic; a batch is not. When a part of it gets no answer the whole is a fault, and asking again
//! with the same ids answers what was done as done. Events of an answer are recorded and wake-ups told before it is
//! given.

use protocol::{Guard, Mark, Stamped, Step};

use super::events::{Head, Note};
use super::reply::{Fields, Read, Verdict, corrupt};
use super::script::Script;
use super::shared::{Heard, Request, Shared};
use super::wakes::Wakes;
use super::words::Words;
use crate::{Answer, At};

/// Rows of one script, at most.
pub(super) const ROWS: usize = 64;

/// An action over a batch.
pub(super) trait Rows {
    /// One element of the batch.
    type Request: Sync;
    /// What it brings.
    type Effect: Send;
    /// What the event and the effect are made of, read from a row.
    type Found: Send;

    const SCRIPT: Script;
    /// Operation and object, for messages.
    const DOING: &'static str;

    /// The script's arguments.
    fn pack(chunk: &[Self::Request], words: &mut Words);

    /// Reads what a row holds beyond its head.
    fn found(fields: &mut Fields, taken: bool) -> Read<Self::Found>;

    /// What the step says of itself; nothing when it is no action of the spec.
    fn note<'a>(request: &'a Self::Request, found: &Self::Found) -> Option<Note<'a>>;

    /// The effect.
    fn effect(request: &Self::Request, found: Self::Found, head: &Head) -> Self::Effect;

    /// Whom it wakes, when it happened now.
    fn wakes(_request: &Self::Request, _found: &Self::Found, _wakes: &mut Wakes) {}
}

impl Shared {
    pub(super) async fn each<A: Rows>(&self, at: &At, batch: &[A::Request]) -> Answer<A::Effect> {
        let mut answers = Vec::with_capacity(batch.len());
        for chunk in batch.chunks(ROWS) {
            let mut words = Words::default();
            A::pack(chunk, &mut words);
            let request = Request { script: A::SCRIPT, epoch: at.epoch, words, doing: A::DOING };
            match self.ask(request).await? {
                Heard::Stale(epoch) => answers.extend(chunk.iter().map(|_| stale(epoch))),
                Heard::Current(answered) => {
                    let head = Head::of(&answered);
                    let rows = answered.into_rows().map_err(corrupt(A::DOING))?;
                    if rows.len() != chunk.len() {
                        let wrong = format!("{} rows answer {}", rows.len(), chunk.len());
                        return Err(corrupt(A::DOING)(super::reply::Malformed(wrong)));
                    }
                    let mut wakes = Wakes::default();
                    for (one, mut row) in chunk.iter().zip(rows) {
                        let taken = matches!(row.verdict, Verdict::Taken { .. });
                        let found = A::found(&mut row.fields, taken).map_err(corrupt(A::DOING))?;
                        if row.recorded
                            && self.events.is_on()
                            && let Some(note) = A::note(one, &found)
                        {
                            self.events.record(note.event(at, (row.order, row.verdict), &head));
                        }
                        if taken && row.recorded {
                            A::wakes(one, &found, &mut wakes);
                        }
                        let step = match row.verdict {
                            Verdict::Taken { .. } => Step::Taken(A::effect(one, found, &head)),
                            Verdict::Refused(guard) => Step::Refused(guard),
                        };
                        answers.push(Stamped { mark: head.mark(row.order), step });
                    }
                    self.hub.tell(wakes);
                }
            }
        }
        Ok(answers)
    }
}

/// The refusal of a store of another epoch. It is no step of that store, so it has no order.
pub(super) fn stale<T>(epoch: u64) -> Stamped<T> {
    Stamped::refused(Mark { epoch, order: 0 }, Guard::Stale)
}
