//! The audit: of real runs, of files as they come, of planted faults.

mod files;
mod planted;
mod runs;
