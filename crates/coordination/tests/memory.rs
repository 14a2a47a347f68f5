//! The embedded room on its own: what its events say and what it does when it cannot go on.
#![cfg(feature = "memory")]
