//! Findings, as the doctors of both adapters write them.

pub(crate) use protocol::told;
use protocol::{Finding, Level};

/// One finding.
pub(crate) fn finding(name: &'static str, level: Level, text: impl Into<String>) -> Finding {
    Finding { name, level, text: text.into() }
}
