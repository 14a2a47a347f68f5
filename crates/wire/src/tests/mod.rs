//! The wire against fakes and raw sockets. That it is an adapter, the rooms' conformance suites say.

mod fake;
mod faults;
mod load;
mod peers;
