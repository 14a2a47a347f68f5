//! The wire against the rooms' conformance suites, fakes and raw sockets.

mod coordination;
mod fake;
mod faults;
mod load;
mod peers;
