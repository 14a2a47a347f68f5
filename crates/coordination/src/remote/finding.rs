//! What a person should know of a store: one finding, one sentence.

use protocol::Fault;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Ok,
    /// It works; something is weaker or slower than it could be.
    Warn,
    /// It does not work, or work may be lost again and again.
    Bad,
}

/// One thing looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub name: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was found, and what to do.
    pub sentence: String,
}

pub(crate) fn finding(name: &'static str, level: Level, sentence: impl Into<String>) -> Finding {
    Finding { name, level, sentence: sentence.into() }
}

/// A fault with its causes, in one line.
pub(crate) fn told(fault: &Fault) -> String {
    let mut text = fault.to_string();
    let mut cause = std::error::Error::source(fault);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
