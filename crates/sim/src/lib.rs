//! Deterministic simulation: the real agents and the real workers, over the durable room of the law and the embedded
//! coordination room, on virtual time, one thread, one seed.
//!
//! Promises: the same seed gives the same run, event by event; every request may be lost, late, doubled or answered in
//! vain, every process killed or frozen at any point where it waits, coordination lost or an old state of it restored,
//! clocks may drift and be set; each run is audited against the spec, and after the trouble everything must come to its
//! end, with nothing left and every result right. Does not run programs, nor any store of the product but the embedded
//! coordination room: conformance suites hold those to the same rooms.
//! The spec speaks of it as `Next`, faults included; protocol §2, §3 and §6.

#[cfg(test)]
mod awakening;
mod checks;
mod core;
mod durable_room;
mod fate;
mod jobs;
mod link;
mod now;
mod plan;
mod planted;
mod ports;
mod record;
mod run;
mod seeds;
mod shrink;
mod story;
pub mod target_room;
mod world;

pub use plan::Options;
pub use planted::Planted;
pub use run::{Outcome, run};
pub use seeds::{Sum, live, seed_of_commit};
pub use shrink::{command, shrink};
