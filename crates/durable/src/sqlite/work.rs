//! A request on its way through the writer.
//!
//! Promises: a row that fails by itself is set aside and its neighbours are decided; the answer and the events go
//! out only after the commit.

use protocol::{Event, EventSink, Fault, Mark, Origin, Stamped};
use tokio::sync::oneshot;

use super::section::sql;
use super::transaction::{Decision, Transaction};
use super::trouble::Trouble;
use crate::Answer;

/// A request that the writer runs, perhaps again when the group it was in could not be committed.
pub(super) trait Work: Send {
    /// What is being done, for messages.
    fn doing(&self) -> &'static str;

    /// How many rows it decides.
    fn rows(&self) -> usize;

    /// Decides every row. Another call begins from nothing.
    fn run(&mut self, transaction: &Transaction<'_>) -> Result<(), Trouble>;

    /// Records events and replies.
    fn answer(self: Box<Self>, committed: Result<(), Fault>, sink: &dyn EventSink);
}

/// What decides one row.
pub(super) type Decide<R, T> = fn(&Transaction<'_>, &Origin, &R) -> Decision<T>;

/// A batch of one action.
pub(super) struct Batch<R, T> {
    pub(super) doing: &'static str,
    pub(super) origin: Origin,
    pub(super) rows: Vec<R>,
    pub(super) decide: Decide<R, T>,
    pub(super) answers: Vec<Stamped<T>>,
    pub(super) events: Vec<Event>,
    pub(super) reply: oneshot::Sender<Answer<T>>,
}

impl<R: Send, T: Send> Work for Batch<R, T> {
    fn doing(&self) -> &'static str {
        self.doing
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn run(&mut self, transaction: &Transaction<'_>) -> Result<(), Trouble> {
        self.answers.clear();
        self.events.clear();
        for row in &self.rows {
            let decided = if transaction.careful {
                self.carefully(transaction, row)
            } else {
                (self.decide)(transaction, &self.origin, row)
            };
            let decided = decided?;
            self.answers.push(decided.answer);
            self.events.extend(decided.events);
        }
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), Fault>, sink: &dyn EventSink) {
        let Self { answers, events, reply, .. } = *self;
        if committed.is_ok() {
            events.into_iter().for_each(|event| sink.record(event));
        }
        // Nobody waits for the answer any more when the caller has gone; what was done stays done.
        drop(reply.send(committed.map(|()| answers)));
    }
}

impl<R, T> Batch<R, T> {
    /// Decides a row so that its failure undoes only itself.
    fn carefully(&self, transaction: &Transaction<'_>, row: &R) -> Decision<T> {
        transaction.write(sql!("connection", "savepoint"), &[])?;
        match (self.decide)(transaction, &self.origin, row) {
            Ok(decided) => {
                transaction.write(sql!("connection", "release"), &[])?;
                Ok(decided)
            }
            Err(trouble) => {
                let Some(reason) = trouble.of_the_row() else { return Err(trouble) };
                transaction.write(sql!("connection", "rollback_to"), &[])?;
                transaction.write(sql!("connection", "release"), &[])?;
                let answer = Stamped::set_aside(Mark::default(), reason);
                super::transaction::Decided::silent(answer)
            }
        }
    }
}
