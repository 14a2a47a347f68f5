//! The API over real sockets, on an embedded installation.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod conformance;
mod document;
mod door;
mod files;
mod heard;
mod help;
mod hostile;
mod payloads;
mod size;
mod streams;
mod tls;
