//! What was decided about one row of a batch, and what the trace says of it.

use protocol::{Event, Mark, Phase, Stamped};

/// An answer and its events.
#[derive(Debug)]
pub(crate) struct Decided<T> {
    pub(crate) answer: Stamped<T>,
    pub(crate) events: Vec<Event>,
}

impl<T> Decided<T> {
    /// An answer that the trace does not mention: a repeat, or no action of the spec. As a decision of a store, each of
    /// which has its own reasons for none.
    #[expect(clippy::unnecessary_wraps, reason = "every decision ends as a result; this is the plainest")]
    pub(crate) fn silent<E>(answer: Stamped<T>) -> Result<Self, E> {
        Ok(Self { answer, events: Vec::new() })
    }
}

/// The job's mark at a revision.
pub(crate) fn mark(revision: u64) -> Mark {
    Mark { epoch: 0, order: revision }
}

/// A job's row as a guard saw it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) revision: u64,
    pub(crate) phase: Phase,
    pub(crate) max_attempts: u32,
}
