//! Searches every state that the protocol can reach, within small bounds, and checks every property in each.
//!
//! Promises: the search is complete within the bounds; it gives the same numbers as TLC on the same module
//! and bounds (distinct states, depth, states generated), which shows that `protocol::machine` is the
//! specification; two runs give the same answer, the same trace included.
//! Does not prove anything beyond the bounds, and knows no store: adapters are held to the machine by
//! conformance walks, the running program by the audit.
//! The spec speaks of it: `spec/README.md`, `spec/models/`.

pub mod audit;
pub mod bounds;
pub mod explore;
pub mod fairness;
pub mod graph;
pub mod liveness;
pub mod mutants;
pub mod packed;
pub mod story;
mod visited;
mod ways;

pub use bounds::{BOUNDS, Named};
pub use explore::{Explored, Found, Report, explore};
pub use liveness::{LIVENESS, Lasso, check_liveness};
