//! One request to the pool: a function is called, its rows are read, the answer is judged for staleness.
//!
//! Promises: an answer of another epoch, or of a moment before one that this process had seen when it sent the request,
//! is stale as a whole (rule 9). A call ends before a third of the lease is over.

use std::sync::{Arc, Mutex, PoisonError};

use pg::Row;
use pg::session::Sessions;
use protocol::{EventSink, Fault, Mark, Window};

use super::params::Params;
use super::reply::Answered;
use super::statements::Statements;
use super::trouble::Trouble;
use super::{Clock, millis};
use crate::Wake;
use crate::remote::wakes::Hub;

/// What the parts of the room share.
pub(super) struct Desk {
    pub(super) sessions: Arc<Sessions>,
    pub(super) statements: Statements,
    pub(super) pool: String,
    pub(super) clock: Option<Clock>,
    pub(super) events: Arc<dyn EventSink>,
    pub(super) hub: Arc<Hub>,
    /// The latest moment of the pool that was seen.
    pub(super) highest: Mutex<Mark>,
}

/// An answer, or the epoch of the store that refuses as stale.
pub(super) enum Heard {
    Current(Answered),
    Stale(u64),
}

/// A whole number as PostgreSQL keeps it, held at the highest that it can.
pub(super) fn big(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Desk {
    pub(super) fn highest(&self) -> Mark {
        *self.highest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, mark: Mark) {
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        *highest = (*highest).max(mark);
    }

    /// Now, where it is not the server's to say.
    pub(super) fn now(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| big(millis(clock())))
    }

    /// What every function takes first.
    pub(super) fn first(&self, epoch: u64) -> Params {
        Params::new().text(Some(self.pool.clone())).big(big(epoch)).now(self.now())
    }

    /// Rows of a statement that may have been applied, also when no answer came.
    pub(super) async fn act(&self, text: &str, params: &Params, doing: &str) -> Result<Vec<Row>, Fault> {
        let rows = self.sessions.rows(text, params).await;
        rows.map_err(|trouble| trouble.of_an_action(self.sessions.doing(doing)))
    }

    /// An answer that was read, or the fault that it cannot be.
    pub(super) fn sound<T>(&self, read: Result<T, Trouble>, doing: &str) -> Result<T, Fault> {
        read.map_err(|trouble| trouble.of_an_action(self.sessions.doing(doing)))
    }

    /// Calls a function in the epoch believed, and judges its answer.
    pub(super) async fn ask(
        &self,
        believed: u64,
        (text, params): (&str, &Params),
        doing: &str,
    ) -> Result<Heard, Fault> {
        self.sound(self.hear(believed, (text, params)).await, doing)
    }

    /// The same; what went wrong is still to be judged.
    pub(super) async fn hear(
        &self,
        believed: u64,
        (text, params): (&str, &Params),
    ) -> Result<Heard, Trouble> {
        let seen_before = self.highest();
        let answered = Answered::read(self.sessions.rows(text, params).await?)?;
        let head = answered.head;
        if head.epoch == 0 || head.epoch != believed {
            return Ok(Heard::Stale(head.epoch));
        }
        self.sessions.no_longer_than(head.lease_ms * 3 / 10);
        if answered.freed {
            self.hub.tell_one(Wake::Freed);
        }
        let mark = head.mark(answered.order);
        if mark < seen_before {
            return Ok(Heard::Stale(head.epoch));
        }
        self.saw(mark);
        Ok(Heard::Current(answered))
    }
}

/// Windows as three columns.
pub(super) fn named<'a>(windows: impl Iterator<Item = &'a Window> + Clone, params: Params) -> Params {
    params
        .texts(windows.clone().map(|window| Some(window.kind.clone())))
        .texts(windows.clone().map(|window| Some(window.queue.clone())))
        .smalls(windows.map(|window| window.priority.0.into()))
}

/// A number whose order PostgreSQL keeps, though its own numbers are half as large.
pub(super) fn in_order(number: u64) -> i64 {
    (number ^ (1 << 63)).cast_signed()
}

/// Whether PostgreSQL can hold the text.
pub(super) fn is_text(text: &str) -> bool {
    !text.contains('\0')
}

/// What the functions do not look into.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("numbers and texts are JSON")
}
