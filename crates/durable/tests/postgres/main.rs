//! PostgreSQL beyond the suite: its rules, its faults, its transports.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod ended;
mod failover;
mod faults;
mod help;
mod proxy;
mod rules;
mod transports;
#[path = "../servers/url.rs"]
mod url;
