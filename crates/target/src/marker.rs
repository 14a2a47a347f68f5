//! The marker: a small object that says which target this is.
//!
//! Promises: written once, never replaced; whoever moves a target moves it too. Does not say whose target it is: the
//! durable room remembers where its installation publishes.

use protocol::TargetId;

use crate::port::TargetFault;

/// Its key, beside those of the jobs.
pub const KEY: &str = "remora-target";

/// What it holds.
#[must_use]
pub fn text(target: TargetId) -> String {
    format!("{target}\n")
}

/// What a marker says. `place`: where it lies, for people.
///
/// # Errors
/// When it holds no id.
pub fn read(bytes: &[u8], place: &str) -> Result<TargetId, TargetFault> {
    let text = std::str::from_utf8(bytes).ok().and_then(|text| text.trim_end().parse().ok());
    text.ok_or_else(|| TargetFault::bad(format!("the marker {place} holds no id of a target")))
}
