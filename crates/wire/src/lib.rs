//! The first two ports over a local socket: client adapters for worker processes, and the serving side for
//! the owner of a data folder.
//!
//! Promises: the clients are adapters of the ports, exactly; a request that was surely not sent fails as
//! `Unreachable`, one that may have been applied as `Ambiguous`; each room has a connection of its own, so
//! that each link can be cut on its own; a peer that is frozen, killed or talks nonsense blocks and breaks
//! nobody else. Does not decide anything and knows no adapter.
//! The spec speaks of the links as `links[w][s]`; protocol §7 says what goes over them.

pub mod client;
pub mod server;

mod fault;
mod frame;
mod methods;
mod socket;

pub use frame::{MAX_FRAME, VERSION};
pub use socket::SOCKET;

#[cfg(test)]
mod tests;
