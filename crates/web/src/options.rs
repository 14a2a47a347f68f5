//! How to serve, and what is refused before anything is served.

use std::net::SocketAddr;

use api::Problem;
use axum::Router;
use axum::response::Response;

use crate::heard::Hearing;
use crate::tls::TlsFiles;

/// Bounds on what one client may take. Each has a default that a team does not reach.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at once. Too few: clients wait to be let in. Too many: memory, 64 KiB each at worst.
    pub connections: usize,
    /// Requests a second of one token, or of one address without a token; as many again at once. Too few: pages of many
    /// people behind one address are refused. Too many: one client can keep the stores busy.
    pub requests_per_second: u32,
    /// Streams at once of one token or address. Too few: tabs of a browser go without. Too many: one client takes the
    /// connections of others.
    pub streams: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 1_024, requests_per_second: 500, streams: 64 }
    }
}

/// A problem as a page for people.
pub type ProblemPage = fn(&Problem) -> Response;

/// How to serve.
#[derive(Default)]
pub struct Options {
    /// Certificate and key; plain text without.
    pub tls: Option<TlsFiles>,
    /// Names under which this server is reached, beside loopback's.
    pub allowed_hosts: Vec<String>,
    /// Whether plain text may be spoken beyond loopback.
    pub insecure_http: bool,
    /// Whether a proxy stands before it that speaks TLS and says in `X-Forwarded-For` who asks. Its word is believed, and
    /// a token is asked for even on loopback.
    pub behind_proxy: bool,
    /// Bounds.
    pub limits: Limits,
    /// More routes, such as pages and metrics; they stand behind the same door. GET needs the scope `read`, everything
    /// else `operate`.
    pub extra: Router,
    /// Beginnings of paths of `extra` that need no token: what a login page shows.
    pub public: Vec<String>,
    /// Who hears of each answered request, to count it.
    pub hearing: Option<Hearing>,
    /// Shows problems to browsers, outside of `/v1/`; without it they are JSON there, too.
    pub problem_page: Option<ProblemPage>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("tls", &self.tls)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("insecure_http", &self.insecure_http)
            .field("behind_proxy", &self.behind_proxy)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Why an address is not served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Anybody could do anything.
    #[error(
        "{address} can be reached from other machines, and there is no token yet: anybody could run programs here; \
         `remora token create NAME --scope admin` makes one"
    )]
    NoTokens {
        /// The address.
        address: SocketAddr,
    },
    /// Anybody could read along.
    #[error(
        "{address} can be reached from other machines, and tokens would cross the network in plain text; \
         give --tls-cert and --tls-key, or say --behind-proxy or --insecure-http"
    )]
    PlainText {
        /// The address.
        address: SocketAddr,
    },
}

impl Options {
    /// Whether whoever reaches the server is on this machine.
    pub(crate) fn is_local(&self, address: SocketAddr) -> bool {
        address.ip().is_loopback() && !self.behind_proxy
    }

    /// Whether the address may be served, with or without tokens known.
    ///
    /// # Errors
    /// What is missing.
    pub fn check(&self, address: SocketAddr, has_tokens: bool) -> Result<(), Refusal> {
        if self.is_local(address) {
            return Ok(());
        }
        if !has_tokens {
            return Err(Refusal::NoTokens { address });
        }
        if self.tls.is_none() && !self.insecure_http && !self.behind_proxy {
            return Err(Refusal::PlainText { address });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_loopback_there_must_be_tokens_and_no_plain_text() {
        let (near, far) = ("127.0.0.1:1".parse().unwrap(), "10.0.0.1:1".parse().unwrap());
        let plain = Options::default();
        assert_eq!(plain.check(near, false), Ok(()));
        assert_eq!(plain.check("[::1]:1".parse().unwrap(), false), Ok(()));
        assert_eq!(plain.check(far, false), Err(Refusal::NoTokens { address: far }));
        assert!(plain.check("0.0.0.0:1".parse().unwrap(), true).is_err());
        assert_eq!(plain.check(far, true), Err(Refusal::PlainText { address: far }));
        let insecure = Options { insecure_http: true, ..Options::default() };
        assert_eq!(insecure.check(far, true), Ok(()));
        assert!(insecure.check(far, false).is_err());
        let proxied = Options { behind_proxy: true, ..Options::default() };
        assert_eq!(proxied.check(near, true), Ok(()));
        assert_eq!(proxied.check(near, false), Err(Refusal::NoTokens { address: near }));
    }
}
