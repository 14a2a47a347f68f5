//! What a command ends with when it does not end well.

use std::error::Error;
use std::fmt;

/// Exit codes; `docs/reference/exit-codes.md` lists them.
pub(crate) mod code {
    pub(crate) const OK: u8 = 0;
    pub(crate) const FAILED: u8 = 1;
    pub(crate) const USAGE: u8 = 2;
    pub(crate) const CANCELLED: u8 = 3;
    pub(crate) const NOT_FOUND: u8 = 4;
    pub(crate) const REFUSED: u8 = 5;
    pub(crate) const DRAIN: u8 = 10;
    pub(crate) const LEFT: u8 = 130;
}

/// One clear error, its exit code, and a hint where one helps.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: anyhow::Error,
    pub(crate) hint: Option<String>,
    pub(crate) code: u8,
}

impl Failure {
    pub(crate) fn new(code: u8, text: impl fmt::Display) -> Self {
        Self { error: anyhow::anyhow!("{text}"), hint: None, code }
    }

    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self::new(code::USAGE, text)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { error: error.into(), hint: None, code: code::FAILED }
    }
}
