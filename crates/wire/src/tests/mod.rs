//! The wire against the rooms' conformance suites, fakes and raw sockets.

mod coordination_room;
mod durable_room;
mod fake;
mod faults;
mod load;
mod peers;
