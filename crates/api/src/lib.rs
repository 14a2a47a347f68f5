//! What people and programs do with Remora and see of it.
//!
//! [`v1`] has the documents of the HTTP API, which are also what the command line prints as JSON; [`Api`] is the port;
//! [`Direct`] answers from the rooms. Promises: one document for one thing, wherever it is shown; a refusal names field,
//! value and limit. Does not decide: every change is an action of a room, every answer a read of one. The spec does not
//! speak of it; the verbs are its `SubmitJob`, `RequestCancel` and what protocol §5 adds.

#[cfg(feature = "conformance")]
pub mod conformance;
mod direct;
#[cfg(feature = "client")]
pub mod http;
mod port;
pub mod text;
pub mod v1;

pub use direct::{Direct, DirectRooms, Examine, Kept, check, configure};
pub use port::{Answer, Api, Bytestream, FileBody, Watching};
pub use v1::Problem;
