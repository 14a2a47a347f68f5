//! Batches: split to the functions' bound, sent, and read row by row.
//!
//! Promises: each function's rows are one transaction; a batch of several is not. When a part of it gets no answer the whole
//! is a fault, and asking again with the same ids answers what was done as done. A row that the server cannot take harms
//! only itself. Events of an answer are recorded and wake-ups told before it is given.

use protocol::{Fault, Guard, Mark, Stamped, Step as Answered};

use super::desk::{Desk, Heard};
use super::params::Params;
use super::reply::{Read, Step};
use super::statements::Statements;
use super::trouble::Trouble;
use crate::remote::events::{Head, Note, Verdict};
use crate::remote::wakes::Wakes;
use crate::{Answer, At};

/// Rows of one call, at most.
pub(super) const ROWS: usize = 64;

/// An action over a batch.
pub(super) trait Rows {
    /// One element of the batch.
    type Request: Sync;
    /// What it brings.
    type Effect: Send;
    /// What the event and the effect are made of, read from a row.
    type Found: Send;

    /// Operation and object, for messages.
    const DOING: &'static str;

    /// The function's call.
    fn call(statements: &Statements) -> &str;

    /// The function's parameters beyond the first three.
    fn pack(chunk: &[&Self::Request], params: Params) -> Params;

    /// Why the server could never take this row.
    fn unfit(_request: &Self::Request) -> Option<String> {
        None
    }

    /// Reads what a row holds beyond its verdict.
    fn found(step: &Step) -> Read<Self::Found>;

    /// What the step says of itself; nothing when it is no action of the spec.
    fn note<'a>(request: &'a Self::Request, found: &Self::Found) -> Option<Note<'a>>;

    /// The effect.
    fn effect(request: &Self::Request, found: Self::Found, head: &Head) -> Self::Effect;

    /// Whom it wakes, when it happened now.
    fn wakes(_request: &Self::Request, _found: &Self::Found, _wakes: &mut Wakes) {}
}

impl Desk {
    pub(super) async fn each<A: Rows>(&self, at: &At, batch: &[A::Request]) -> Answer<A::Effect> {
        let fit: Vec<&A::Request> = batch.iter().filter(|request| A::unfit(request).is_none()).collect();
        let mut answers = Vec::with_capacity(fit.len());
        for chunk in fit.chunks(ROWS) {
            match self.chunk::<A>(at, chunk).await {
                Ok(some) => answers.extend(some),
                Err(trouble) if of_a_row(&trouble).is_some() => {
                    answers.extend(self.one_by_one::<A>(at, chunk).await?);
                }
                Err(trouble) => return Err(self.fault(trouble, A::DOING)),
            }
        }
        let mut answers = answers.into_iter();
        let highest = self.highest();
        let answer = |request| match A::unfit(request) {
            Some(reason) => Some(Stamped::set_aside(highest, reason)),
            None => answers.next(),
        };
        Ok(batch.iter().filter_map(answer).collect())
    }

    /// Each row in a call of its own, so that a bad one is found.
    async fn one_by_one<A: Rows>(&self, at: &At, chunk: &[&A::Request]) -> Answer<A::Effect> {
        let mut answers = Vec::with_capacity(chunk.len());
        for one in chunk {
            match self.chunk::<A>(at, &[*one]).await {
                Ok(some) => answers.extend(some),
                Err(trouble) => match of_a_row(&trouble) {
                    Some(reason) => answers.push(Stamped::set_aside(self.highest(), reason)),
                    None => return Err(self.fault(trouble, A::DOING)),
                },
            }
        }
        Ok(answers)
    }

    fn fault(&self, trouble: Trouble, doing: &str) -> Fault {
        trouble.of_an_action(self.sessions.doing(doing))
    }

    async fn chunk<A: Rows>(
        &self,
        at: &At,
        chunk: &[&A::Request],
    ) -> Result<Vec<Stamped<A::Effect>>, Trouble> {
        let params = A::pack(chunk, self.first(at.epoch));
        let answered = match self.hear(at.epoch, (A::call(&self.statements), &params)).await? {
            Heard::Stale(epoch) => return Ok(chunk.iter().map(|_| stale(epoch)).collect()),
            Heard::Current(answered) => answered,
        };
        let head = answered.head;
        let steps = answered.into_steps()?;
        if steps.len() != chunk.len() {
            return Err(Trouble::BadRow(format!("{} rows answer {}", steps.len(), chunk.len())));
        }
        let mut wakes = Wakes::default();
        let mut answers = Vec::with_capacity(chunk.len());
        for (one, step) in chunk.iter().zip(steps) {
            let found = A::found(&step)?;
            if step.recorded
                && self.events.is_on()
                && let Some(note) = A::note(one, &found)
            {
                self.events.record(note.event(at, (step.order, step.verdict), &head));
            }
            if step.is_taken() && step.recorded {
                A::wakes(one, &found, &mut wakes);
            }
            let mark = head.mark(step.order);
            answers.push(match step.verdict {
                Verdict::Taken { .. } => Stamped::taken(mark, A::effect(one, found, &head)),
                Verdict::Refused(guard) => Stamped { mark, step: Answered::Refused(guard) },
            });
        }
        self.hub.tell(wakes);
        Ok(answers)
    }
}

/// The reason to set a row aside with. An answer that cannot be read is no row's fault.
fn of_a_row(trouble: &Trouble) -> Option<String> {
    match trouble {
        Trouble::Refused(_) => trouble.of_the_row(),
        _ => None,
    }
}

/// The refusal of a store of another epoch. It is no step of that store, so it has no order.
pub(super) fn stale<T>(epoch: u64) -> Stamped<T> {
    Stamped::refused(Mark { epoch, order: 0 }, Guard::Stale)
}
