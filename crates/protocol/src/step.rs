//! What a room answers to one element of a batch, and what it may fail with.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::guard::Guard;
use crate::origin::Mark;

/// An answer. A refusal is an answer, too: the action did not happen, and that is certain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step<T> {
    /// It happened, now or at an earlier sending of the same request.
    Taken(T),
    /// It did not happen: this guard was false.
    Refused(Guard),
    /// The row itself is bad and was set aside; its neighbours are not affected (rule 10).
    SetAside(Reason),
}

impl<T> Step<T> {
    /// The effect, when the step was taken.
    pub fn taken(self) -> Option<T> {
        match self {
            Self::Taken(effect) => Some(effect),
            Self::Refused(_) | Self::SetAside(_) => None,
        }
    }

    /// The guard that refused it, if one did.
    #[must_use]
    pub fn refused(&self) -> Option<Guard> {
        match self {
            Self::Refused(guard) => Some(*guard),
            Self::Taken(_) | Self::SetAside(_) => None,
        }
    }
}

/// Why a row was set aside, for an operator to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason(pub String);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A step and the moment of it, as the room that took it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamped<T> {
    /// The room's order number, taken inside the linearization point.
    pub mark: Mark,
    /// The answer.
    pub step: Step<T>,
}

impl<T> Stamped<T> {
    /// A taken step at `mark`.
    pub fn taken(mark: Mark, effect: T) -> Self {
        Self { mark, step: Step::Taken(effect) }
    }

    /// A row set aside at `mark`, for this reason.
    pub fn set_aside(mark: Mark, reason: impl Into<String>) -> Self {
        Self { mark, step: Step::SetAside(Reason(reason.into())) }
    }

    /// A refusal at `mark`.
    pub fn refused(mark: Mark, guard: Guard) -> Self {
        Self { mark, step: Step::Refused(guard) }
    }
}

/// What is known when a room gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FaultKind {
    /// Surely not applied: ask again at leisure.
    Unreachable,
    /// Perhaps applied: ask again, with the same ids, before deciding anything.
    Ambiguous,
    /// The store holds what it must not hold. Asking again does not help.
    Corrupt,
}

/// A room gave no answer.
#[derive(Debug)]
pub struct Fault {
    /// What is known about the request.
    pub kind: FaultKind,
    /// Operation and object, such as `claim attempts in ./.remora/remora.db`.
    pub doing: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Fault {
    /// A fault without a cause of its own.
    pub fn new(kind: FaultKind, doing: impl Into<String>) -> Self {
        Self { kind, doing: doing.into(), source: None }
    }

    /// The same with the error that caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// A fault that surely changed nothing.
    pub fn unreachable(doing: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(FaultKind::Unreachable, doing).caused_by(source)
    }

    /// A fault that may have changed something.
    pub fn ambiguous(doing: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(FaultKind::Ambiguous, doing).caused_by(source)
    }

    /// A fault of the stored data.
    pub fn corrupt(doing: impl Into<String>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(FaultKind::Corrupt, doing).caused_by(source)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::Unreachable => write!(f, "cannot {}", self.doing),
            FaultKind::Ambiguous => write!(f, "no answer when trying to {}", self.doing),
            FaultKind::Corrupt => write!(f, "bad data found when trying to {}", self.doing),
        }
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_what_was_tried_and_keeps_its_cause() {
        let fault = Fault::ambiguous("claim attempts", std::io::Error::other("reset"));
        assert_eq!(fault.to_string(), "no answer when trying to claim attempts");
        assert_eq!(fault.source().unwrap().to_string(), "reset");
        assert!(Fault::new(FaultKind::Corrupt, "read x").source().is_none());
    }
}
