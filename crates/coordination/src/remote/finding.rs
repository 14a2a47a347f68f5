//! Findings, as the doctors of both adapters write them.

use protocol::{Fault, Finding, Level};

/// One finding.
pub(crate) fn finding(name: &'static str, level: Level, text: impl Into<String>) -> Finding {
    Finding { name, level, text: text.into() }
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
