//! The HTTP API, version 1, and who may use it.
//!
//! [`serve`] answers over HTTP what an [`api::Api`] answers. Promises: every error is a problem of RFC 9457 with a code
//! that has a page; nothing is changed by GET, by a page of another site, or without the scope that it needs; what is
//! documented in `docs/reference/openapi.json` is what is served. Does not decide anything about jobs and knows no room
//! but the tokens and the trail ([`durable::Access`]). The spec does not speak of it.

mod access;
mod body;
mod connection;
mod document;
mod files;
mod heard;
mod options;
mod problem;
mod query;
mod router;
mod routes;
mod serve;
mod streams;
mod tls;

pub use access::make_token;
pub use access::{About, Caller, Peer};
pub use document::openapi;
pub use heard::Hearing;
pub use options::{Limits, Options, ProblemPage, Refusal};
pub use problem::Outcome;
pub use serve::{Handle, ServeError, Served, serve};
pub use tls::{TlsFiles, TlsFilesError};
