//! What an examination of a room, or of the machine, found.

use std::error::Error;

/// An error with its causes, in one line.
#[must_use]
pub fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Ok,
    /// It works, with a cost that the sentence names.
    Warn,
    /// It does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What, in a word.
    pub name: &'static str,
    /// How it is.
    pub level: Level,
    /// The same in a sentence.
    pub text: String,
}

impl Finding {
    /// As it should be.
    #[must_use]
    pub fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, level: Level::Ok, text: text.into() }
    }

    /// It works, with a cost that the text names.
    #[must_use]
    pub fn warn(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, level: Level::Warn, text: text.into() }
    }

    /// It does not work.
    #[must_use]
    pub fn bad(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, level: Level::Bad, text: text.into() }
    }
}
