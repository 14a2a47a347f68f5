//! The state machine of the specification: what each action needs and what it does.
//!
//! Promises: [`moves`] lists exactly the instances that `Next` allows, in its order; [`Move::apply`] changes
//! exactly what the action assigns; a refused guard is named. Equality with the published state counts
//! (crate `model`) shows that this is the spec and not something like it.
//! Does not decide when an action is tried, keeps no time, and knows no store: rooms use the room guards,
//! the model and the audit use the spec guards.
//! The spec speaks of all of it: `spec/Remora.tla`, `spec/TwoStores.tla`.
//!
//! Read [`actions`] for the law itself: one file per action, each a table of conjuncts and an effect.

pub mod actions;
pub mod conjunct;
pub mod constants;
pub mod instance;
pub mod invariants;
pub mod properties;
pub mod rows;
pub mod rules;
pub mod state;

#[cfg(test)]
mod fixture;

pub use conjunct::{Conjunct, Seen};
pub use constants::{BadConstants, Constants};
pub use instance::{Move, instances, moves};
pub use invariants::{INVARIANTS, Invariant};
pub use properties::{STEP_PROPERTIES, StepProperty};
pub use rows::{
    Attempt, AttemptRow, AttemptState, Job, JobRow, LeaseState, LinkState, Service, StageState, Wants,
    Worker, WorkerRow, WorkerState,
};
pub use rules::{Law, Module, Once, ReaperJudgement, Rules};
pub use state::State;
