//! The port over HTTP.
//!
//! Promises: what the server answers is what comes back, problems included; a request that surely did not arrive is
//! `unavailable`, a change whose answer did not come `ambiguous`; a stream that breaks is taken up again where it was.
//! Does not send a change again by itself. The token stands in no message.

mod access;
mod port;
mod send;
mod sse;

use std::time::Duration;

use reqwest::Certificate;
use reqwest::header::{HeaderMap, HeaderValue};

use crate::v1::{Code, Problem};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Where the server is, and what it is shown.
#[derive(Clone)]
pub struct HttpOptions {
    /// Its URL: `http://127.0.0.1:7373`, or `https://…`, perhaps with a path that stands before all others.
    pub url: String,
    /// The token, where one is needed.
    pub token: Option<String>,
    /// Certificates in PEM to trust beside those of the system.
    pub roots: Option<Vec<u8>>,
    /// How long an answer may take; streams only until they begin. Too short: changes that were made are called ambiguous.
    /// Too long: a server that hangs is noticed late.
    pub timeout: Duration,
}

impl HttpOptions {
    /// The usual options: 60 s, and what the system trusts.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), token: None, roots: None, timeout: Duration::from_secs(60) }
    }
}

/// The token is shown nowhere.
impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpOptions").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The port over HTTP.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
    base: String,
    timeout: Duration,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("base", &self.base).finish_non_exhaustive()
    }
}

fn wrong(field: &str, value: &str, allowed: &str) -> Problem {
    protocol::Violation { field: field.to_owned(), value: value.to_owned(), allowed: allowed.to_owned() }
        .into()
}

impl Http {
    /// A client of the server. Nothing is sent yet.
    ///
    /// # Errors
    /// When URL, token or certificates are wrong.
    pub fn new(options: HttpOptions) -> Result<Self, Problem> {
        let url = reqwest::Url::parse(&options.url);
        let known = url.as_ref().is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
        if !known || url.is_ok_and(|url| !url.username().is_empty() || url.password().is_some()) {
            let shown: String = options.url.chars().take_while(|letter| *letter != '@').take(128).collect();
            return Err(wrong("url", &shown, "http://HOST:PORT or https://HOST:PORT"));
        }
        let mut headers = HeaderMap::new();
        if let Some(token) = &options.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|_| wrong("token", "a text with other letters", "remora_ and letters and digits"))?;
            value.set_sensitive(true);
            headers.insert(reqwest::header::AUTHORIZATION, value);
        }
        // A second installation of the same provider is refused and does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("remora/", env!("CARGO_PKG_VERSION")));
        if let Some(pem) = &options.roots {
            let roots = Certificate::from_pem_bundle(pem)
                .map_err(|error| wrong("roots", &error.to_string(), "certificates in PEM"))?;
            builder = roots.into_iter().fold(builder, reqwest::ClientBuilder::add_root_certificate);
        }
        let client = builder.build().map_err(|error| {
            Problem::new(Code::Unavailable, format!("no HTTP client can be made: {error}"))
        })?;
        Ok(Self { client, base: options.url.trim_end_matches('/').to_owned(), timeout: options.timeout })
    }

    /// The server's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.base
    }
}
