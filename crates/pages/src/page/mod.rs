//! One file a page: what it reads, and what its forms change.

pub(crate) mod file;
pub(crate) mod job;
pub(crate) mod jobs;
pub(crate) mod limits;
pub(crate) mod login;
pub(crate) mod overview;
pub(crate) mod queues;
pub(crate) mod workers;

use std::str::FromStr;

use api::Problem;

/// An id in a path; one that is none stands for nothing.
fn id<T: FromStr>(what: &str, text: &str) -> Result<T, Problem> {
    let shown: String = text.chars().take(64).collect();
    text.parse().map_err(|_| Problem::not_found(format_args!("{what} `{shown}`")))
}
