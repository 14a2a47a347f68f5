//! Room 1: the store that holds the truth.
//!
//! Promises: every action of the durable room is one atomic statement per row; its answer names the guard
//! that refused it; every request can be sent again with the same ids and gets the same answer. Does not
//! know that other rooms exist: what was read elsewhere comes in as an argument.
//! The spec speaks of it as `durableVars`; protocol §1 says which actions are here.

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod decided;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "oracle"))]
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(dead_code, reason = "the oracle keeps no columns")
)]
mod form;
#[cfg(feature = "oracle")]
pub mod oracle;
pub mod port;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod section;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use port::*;
