//! Private servers for tests: PostgreSQL, Redis-protocol and S3 servers, each on a free port of the loopback address, in a
//! folder of its own.
//!
//! Promises that a server ends with whoever started it, also when that is killed, and that its folder goes too: at once
//! when it is dropped, else when the next one starts. Does not install anything, and does not know what is asked of the
//! servers. Only tests use it, so it panics with a sentence where a server cannot be had.

#![expect(clippy::unwrap_used, clippy::panic, reason = "only tests use it; a sentence says what is missing")]

#[cfg(feature = "collector")]
pub mod collector;
mod folder;
pub mod postgres;
mod process;
pub mod redis;
#[cfg(feature = "s3")]
pub mod s3;

pub use folder::Folder;
pub use postgres::Postgres;
pub use process::{Server, free_port, in_lasting_thread, mortal};
pub use redis::Redis;
