//! What adapters have in common whose store is another process: events of the answers that this process gets, wake-ups
//! between processes, findings for people.
//!
//! Promises: one form of event and of wake-up, whatever the store. Does not speak to any store.

pub(crate) mod events;
pub(crate) mod finding;
pub(crate) mod wakes;
