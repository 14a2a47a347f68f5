//! What is typed about the HTTP API: where it is served, and who may use it.

#[cfg(any(feature = "embedded", feature = "fleet"))]
use std::path::PathBuf;
use std::time::Duration;

#[cfg(any(feature = "embedded", feature = "fleet"))]
use clap::ValueHint;
use clap::{Args, Subcommand};

use crate::parse;

/// How the HTTP API is served.
#[cfg(any(feature = "embedded", feature = "fleet"))]
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// Where to serve the HTTP API: an address, or `none`.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7373", help_heading = "HTTP")]
    pub(crate) listen: server::Listen,
    /// A certificate in PEM; with it only TLS is spoken.
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath, help_heading = "HTTP")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Its key in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath, help_heading = "HTTP")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A name under which the API is reached, beside loopback's; may be repeated.
    #[arg(long, value_name = "NAME", help_heading = "HTTP")]
    pub(crate) allow_host: Vec<String>,
    /// Speak plain text beyond loopback: whoever reads along has the tokens.
    #[arg(long, help_heading = "HTTP")]
    pub(crate) insecure_http: bool,
    /// A proxy stands before it, speaks TLS, and says in X-Forwarded-For who asks.
    #[arg(long, help_heading = "HTTP")]
    pub(crate) behind_proxy: bool,
}

#[cfg(any(feature = "embedded", feature = "fleet"))]
impl HttpArgs {
    /// The same as options.
    pub(crate) fn options(&self) -> server::HttpOptions {
        let pair = self.tls_cert.clone().zip(self.tls_key.clone());
        server::HttpOptions {
            tls: pair.map(|(certificate, key)| server::TlsFiles { certificate, key }),
            allowed_hosts: self.allow_host.clone(),
            insecure_http: self.insecure_http,
            behind_proxy: self.behind_proxy,
            ..server::HttpOptions::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    pub(crate) action: TokenAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// Make a token and print it, once: only a digest of it is kept.
    Create {
        /// Its name, for people.
        name: String,
        /// What it allows: read, submit, operate, admin; joined by commas.
        #[arg(long, value_delimiter = ',', default_value = "read")]
        scope: Vec<durable::Scope>,
        /// How long it is good for [default: until it is revoked].
        #[arg(long, value_parser = parse::positive_duration)]
        expires: Option<Duration>,
    },
    /// List what is known of the tokens.
    List,
    /// Revoke tokens by their ids.
    Revoke {
        /// The tokens' ids.
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
}
