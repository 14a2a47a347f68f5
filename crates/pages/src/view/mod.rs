//! Documents as pages show them: words, numbers and drawings, made ready for the templates.

pub(crate) mod job;
pub(crate) mod log;
pub(crate) mod rates;
pub(crate) mod timeline;
pub(crate) mod words;
