//! The embedded room against the suite that every adapter must pass.
#![cfg(all(feature = "memory", feature = "conformance"))]

mod stores;

use stores::memory;

remora_coordination::conformance!(memory);
