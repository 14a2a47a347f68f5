//! What no order explains, and why.

use std::fmt;

use protocol::{Action, Event, Guard, JobId};

/// Why an event fits nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A step that it needs, or is, is forbidden by this guard.
    Guard(Action, Guard),
    /// What the store recorded is not what the step does.
    Effect {
        /// Of which variable.
        what: &'static str,
        /// What the event says.
        recorded: String,
        /// What the step gives.
        replayed: String,
    },
    /// An invariant or step property of the spec does not hold afterwards.
    Broken(&'static str),
    /// It contradicts the order that the stores recorded.
    Order(&'static str),
    /// There are too many orders to try.
    TooMany,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Guard(action, guard) => write!(f, "{} needs `{guard}`", action.spec_name()),
            Self::Effect { what, recorded, replayed } => {
                write!(f, "{what} was recorded as {recorded}, and the spec's step gives {replayed}")
            }
            Self::Broken(name) => write!(f, "{name} does not hold after it"),
            Self::Order(text) => f.write_str(text),
            Self::TooMany => f.write_str("there are too many orders to try them all"),
        }
    }
}

/// A job, or a pool, whose events no order explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The job.
    pub job: Option<JobId>,
    /// The event that fits nowhere.
    pub event: Event,
    /// Why.
    pub why: Why,
    /// The shortest prefix that no order explains, the event at its end.
    pub prefix: Vec<Event>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} fits nowhere: {}", self.event.action.spec_name(), self.why)
    }
}
