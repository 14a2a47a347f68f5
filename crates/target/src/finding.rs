//! What a doctor found.

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    #[cfg_attr(not(feature = "s3"), expect(dead_code, reason = "the folder needs no doctor"))]
    pub(crate) fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, level: Level::Ok, text: text.into() }
    }

    #[cfg_attr(not(feature = "s3"), expect(dead_code, reason = "the folder needs no doctor"))]
    pub(crate) fn warn(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, level: Level::Warn, text: text.into() }
    }

    #[cfg_attr(not(feature = "s3"), expect(dead_code, reason = "the folder needs no doctor"))]
    pub(crate) fn bad(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, level: Level::Bad, text: text.into() }
    }
}
