//! Where a request comes from, as a browser says: for which name, and from whose page.
//!
//! Promises: a name that was rebound to this address by somebody's DNS is refused; so is every change that a page of
//! another site asks for.

use std::net::IpAddr;

use api::v1::Code;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Uri, header};

use crate::body::{is_json, not_json};
use crate::problem::{Refused, Reply};

/// Names under which the server may be asked.
pub(crate) struct Hosts {
    allowed: Vec<String>,
    /// Whether only this machine reaches it.
    local: bool,
}

fn forbidden(detail: impl Into<String>) -> Refused {
    Refused::new(Code::Forbidden, detail)
}

/// The name without its port, in small letters.
fn name(authority: &str) -> Option<String> {
    let authority: Authority = authority.parse().ok()?;
    // A user has no place here.
    (!authority.as_str().contains('@')).then(|| authority.host().trim_end_matches('.').to_ascii_lowercase())
}

impl Hosts {
    pub(crate) fn new(allowed: &[String], local: bool) -> Self {
        Self { allowed: allowed.iter().map(|name| name.to_ascii_lowercase()).collect(), local }
    }

    /// Whether this is one of our names. A number is no name: nobody's DNS can point it here.
    fn knows(&self, name: &str) -> bool {
        let plain = name.trim_start_matches('[').trim_end_matches(']');
        let by_number = plain.parse::<IpAddr>().is_ok_and(|ip| !self.local || ip.is_loopback());
        by_number
            || name == "localhost"
            || name.ends_with(".localhost")
            || self.allowed.iter().any(|one| one == name)
    }

    /// Checks the name that was asked for; gives it with its port.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Reply<String> {
        let header = headers.get(header::HOST).and_then(|value| value.to_str().ok());
        let asked = uri.authority().map(Authority::as_str).or(header).unwrap_or_default();
        match name(asked) {
            Some(known) if self.knows(&known) => Ok(asked.to_ascii_lowercase()),
            _ => {
                let shown: String = asked.chars().take(128).collect();
                Err(forbidden(format!("this server is not asked for by the name `{shown}`"))
                    .hint("name it with --allow-host"))
            }
        }
    }
}

/// Checks that a change is not asked for by a page of another site.
pub(crate) fn same_site(method: &Method, host: &str, headers: &HeaderMap) -> Reply<()> {
    if method.is_safe() {
        return Ok(());
    }
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if said("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(forbidden("a page of another site asked for a change"));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let page =
        origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
    if page.is_some_and(|page| page.eq_ignore_ascii_case(host)) {
        Ok(())
    } else {
        Err(forbidden("a page of another site asked for a change"))
    }
}

/// Checks that a change by cookie says that it comes from our own page: every browser does.
pub(crate) fn own_page(method: &Method, headers: &HeaderMap) -> Reply<()> {
    let says = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if method.is_safe() || says {
        return Ok(());
    }
    Err(forbidden("a change by cookie does not say from which page it comes")
        .hint("programs send the token in `Authorization: Bearer`"))
}

/// Checks that a change is in a form that a page's form cannot send. No content type at all is one.
pub(crate) fn no_form(method: &Method, headers: &HeaderMap) -> Reply<()> {
    let has_body = |name: header::HeaderName| headers.get(name).is_some_and(|value| value != "0");
    match headers.get(header::CONTENT_TYPE) {
        _ if method.is_safe() => Ok(()),
        Some(kind) if is_json(kind) => Ok(()),
        None if !has_body(header::CONTENT_LENGTH) && !has_body(header::TRANSFER_ENCODING) => Ok(()),
        _ => Err(not_json()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn is_known(hosts: &Hosts, host: &str) -> bool {
        hosts.check(&"/".parse().unwrap(), &headers(&[("host", host)])).is_ok()
    }

    #[test]
    fn a_rebound_name_is_refused_and_loopback_is_not() {
        let local = Hosts::new(&["Remora.Example".to_owned()], true);
        for host in
            ["localhost", "localhost:7373", "127.0.0.1:1", "[::1]:7373", "REMORA.example", "a.localhost"]
        {
            assert!(is_known(&local, host), "{host}");
        }
        for host in [
            "evil.example",
            "10.0.0.1",
            "localhost.evil.example",
            "",
            "127.0.0.1.evil.example",
            "a@localhost",
            "x y",
        ] {
            assert!(!is_known(&local, host), "{host}");
        }
        assert!(local.check(&"/".parse().unwrap(), &headers(&[])).is_err());
        let wide = Hosts::new(&[], false);
        assert!(is_known(&wide, "10.0.0.1:7373"));
        assert!(!is_known(&wide, "evil.example"));
    }

    #[test]
    fn a_page_of_another_site_changes_nothing() {
        let post = |pairs: &[(&'static str, &str)]| {
            same_site(&Method::POST, "localhost:7373", &headers(pairs)).is_ok()
        };
        assert!(post(&[]));
        assert!(post(&[("origin", "http://localhost:7373"), ("sec-fetch-site", "same-origin")]));
        for origin in
            ["http://evil.example", "null", "http://localhost:1", "http://localhost:7373.evil.example", ""]
        {
            assert!(!post(&[("origin", origin)]), "{origin}");
        }
        for site in ["cross-site", "same-site", "x"] {
            assert!(!post(&[("sec-fetch-site", site)]), "{site}");
        }
        assert!(same_site(&Method::GET, "h", &headers(&[("origin", "http://evil.example")])).is_ok());
        assert!(own_page(&Method::POST, &headers(&[])).is_err());
        assert!(own_page(&Method::POST, &headers(&[("origin", "x")])).is_ok());
    }

    #[test]
    fn a_form_changes_nothing() {
        let post = |pairs: &[(&'static str, &str)]| no_form(&Method::POST, &headers(pairs)).is_ok();
        assert!(post(&[]));
        assert!(post(&[("content-length", "0")]));
        assert!(post(&[("content-type", "application/json; charset=utf-8"), ("content-length", "2")]));
        for kind in
            ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "application/jsonx"]
        {
            assert!(!post(&[("content-type", kind)]), "{kind}");
        }
        assert!(!post(&[("content-length", "2")]));
        assert!(!post(&[("transfer-encoding", "chunked")]));
    }
}
