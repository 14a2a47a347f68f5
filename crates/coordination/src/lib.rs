//! Room 2: queue windows, reservations, leases, notices. All of it can be lost at any moment and is
//! rebuilt from the durable room.
//!
//! Promises: every action is one atomic step; places in use are derived, never counted by hand; every
//! request names its epoch and can be sent again. Does not know that other rooms exist.
//! The spec speaks of it as `coordinationVars`; protocol §1 and §2 (rules 5 to 9) say what is here.

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "dragonfly")]
pub mod dragonfly;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(any(feature = "memory", feature = "dragonfly", feature = "postgres"))]
mod note;
#[cfg(feature = "oracle")]
pub mod oracle;
pub mod port;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "dragonfly", feature = "postgres"))]
mod remote;

pub use port::*;
