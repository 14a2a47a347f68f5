//! Room 3: where results lie.
//!
//! Promises: a part is a copy that never changes once sealed; nobody but an attempt writes under its own
//! prefix; a result is laid out whole, under its own names, before anything durable speaks of it; a sweep
//! deletes only what nothing refers to. Does not know which attempt is right: the durable room does.
//! The spec speaks of it as `stageState` (`AdvanceAttempt`, `CleanupStage`); protocol §3 says the rest.

#[cfg(feature = "conformance")]
pub mod conformance;
mod digest;
pub mod file;
mod logs;
mod manifest;
pub mod marker;
mod open;
mod port;
#[cfg(feature = "s3")]
pub mod s3;

pub use digest::digest_of;
pub use manifest::{Digest, Entry, MANIFEST_FORM, Manifest, ManifestError, Node, Part};
pub use open::{OpenError, open};
pub use port::{Depth, LogReader, LogSink, ResultFile, StageId, Sweep, Target, TargetFault};
