//! Who may do what: the door that every request comes through.
//!
//! Promises: once a token exists, or beyond loopback, nothing but what is named public is answered without one, streams
//! included; whoever is let in changes only what its scopes allow; a page of another site changes nothing; who changed
//! what stands in the trail. Secrets are compared in constant time and stand in no message.

mod gate;
mod known;
mod making;
mod origin;
mod rate;
pub(crate) mod secret;
mod sessions;
mod trail;

use std::net::IpAddr;

use durable::Scope;

pub(crate) use gate::{Gate, enter, session};
pub use making::make_token;
pub(crate) use rate::StreamPlace;
pub(crate) use sessions::{COOKIE, LASTS as SESSION_LASTS};
pub use trail::About;

/// Who sends a request: set by the connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Whether the connection is encrypted.
    pub tls: bool,
}

/// Who was let in; every handler behind the door finds it among the request's extensions.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The token's id; `None` where none is needed.
    pub token: Option<String>,
    /// The token's name, or `local`.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// Where it is.
    pub address: IpAddr,
    /// Whether it came by the cookie of a session.
    pub by_cookie: bool,
}

impl Caller {
    /// Whether it may do what needs this scope.
    #[must_use]
    pub fn may(&self, needed: Scope) -> bool {
        self.scopes.iter().any(|scope| scope.allows(needed))
    }
}
