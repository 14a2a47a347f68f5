//! The door itself.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use api::v1::Code;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use durable::{Access, Scope, TrailEntry};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use utoipa::openapi::OpenApi;

use super::known::Known;
use super::origin::{Hosts, no_form, own_page, same_site};
use super::rate::{Client, Rates, StreamPlace};
use super::secret::{PREFIX, random_id};
use super::sessions::{COOKIE, Sessions};
use super::trail::{About, Trail};
use super::{Caller, Peer};
use crate::document::{Needs, needs};
use crate::options::Options;
use crate::problem::{Outcome, Refused, Reply};

/// How often a stream's caller is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// What needs no token, whoever asks.
const PUBLIC: [&str; 3] = ["/healthz", "/readyz", "/login"];

/// Everything that decides who comes in.
pub(crate) struct Gate {
    pub(crate) known: Known,
    pub(crate) sessions: Sessions,
    hosts: Hosts,
    rates: Arc<Rates>,
    trail: Trail,
    pub(crate) store: Arc<dyn Access>,
    /// What each operation needs, by method and path.
    needs: BTreeMap<(Method, String), Needs>,
    /// Whether only this machine reaches the server.
    local: bool,
    behind_proxy: bool,
    public: Vec<String>,
}

/// Lets a request in or not, and writes down what it changed.
pub(crate) async fn enter(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let (caller, needs) = match gate.check(&mut request).await {
        Ok(checked) => checked,
        Err(refused) if refused.0.code == Code::Unauthenticated && is_for_a_person(&request) => {
            return to_login(&request);
        }
        Err(refused) => return refused.into_response(),
    };
    let mut entry = entry(&request, &caller, &needs);
    let is_known = !caller.scopes.is_empty();
    let response = if caller.may(needs.scope) || gate.is_public(request.uri().path()) {
        request.extensions_mut().insert(caller);
        next.run(request).await
    } else {
        let detail = format!(
            "{} needs the scope `{}`, which the token `{}` has not",
            needs.operation, needs.scope, caller.name
        );
        Refused::new(Code::Forbidden, detail).into_response()
    };
    if let Some(entry) = &mut entry {
        if let Some(About(object)) = response.extensions().get() {
            entry.object.clone_from(object);
        }
        if let Some(Outcome(code)) = response.extensions().get() {
            code.name().clone_into(&mut entry.outcome);
        }
        // What strangers try at a public path would wash out the rest.
        if is_known || response.extensions().get::<About>().is_some() {
            gate.trail.add(entry.clone()).await;
        }
    }
    response
}

/// What the trail will say; nothing of what only looks.
fn entry(request: &Request, caller: &Caller, needs: &Needs) -> Option<TrailEntry> {
    (!request.method().is_safe()).then(|| TrailEntry {
        id: random_id(),
        token: caller.token.clone(),
        who: caller.name.clone(),
        origin: caller.address.to_string(),
        scope: needs.scope,
        action: needs.operation.clone(),
        object: request.uri().path().to_owned(),
        outcome: "done".to_owned(),
    })
}

impl Gate {
    /// The door of a server that listens at this address.
    pub(crate) fn new(store: Arc<dyn Access>, options: &Options, at: SocketAddr, document: &OpenApi) -> Self {
        let local = options.is_local(at);
        let limits = &options.limits;
        Self {
            known: Known::new(Arc::clone(&store)),
            sessions: Sessions::default(),
            hosts: Hosts::new(&options.allowed_hosts, local),
            rates: Arc::new(Rates::new(limits.requests_per_second, limits.streams)),
            trail: Trail::start(Arc::clone(&store)),
            store,
            needs: needs(document),
            local,
            behind_proxy: options.behind_proxy,
            public: options.public.clone(),
        }
    }

    /// Whether the way to the caller is encrypted, as far as is known.
    pub(crate) fn is_encrypted(&self, peer: Peer, headers: &HeaderMap) -> bool {
        let said = headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        peer.tls || self.behind_proxy && said
    }

    fn is_public(&self, path: &str) -> bool {
        PUBLIC.contains(&path) || self.public.iter().any(|beginning| path.starts_with(beginning))
    }

    async fn check(&self, request: &mut Request) -> Reply<(Caller, Needs)> {
        let (method, headers) = (request.method(), request.headers());
        let is_probe = method.is_safe() && ["/healthz", "/readyz"].contains(&request.uri().path());
        let address = self.address(request);
        let needs = self.needs(request);
        // A probe asks by whatever name or number it knows.
        if !is_probe {
            let host = self.hosts.check(request.uri(), headers)?;
            same_site(method, &host, headers)?;
        }
        let caller = match self.caller(address, headers).await {
            Ok(Some(caller)) => {
                let client = caller.token.clone().map_or_else(|| Client::of(address), Client::Token);
                self.count(client)?;
                caller
            }
            Ok(None) | Err(_) if self.is_public(request.uri().path()) => {
                self.count(Client::of(address))?;
                nobody(address)
            }
            Ok(None) => {
                self.count(Client::of(address))?;
                return Err(self.unauthenticated(headers));
            }
            Err(refused) => return Err(refused),
        };
        if caller.by_cookie {
            own_page(method, headers)?;
        }
        if needs.json && !self.is_public(request.uri().path()) {
            no_form(method, headers)?;
        }
        Ok((caller, needs))
    }

    fn count(&self, client: Client) -> Reply<()> {
        if self.rates.take(client) {
            return Ok(());
        }
        Err(Refused::new(Code::TooMany, "too many requests in a moment").hint("wait a second"))
    }

    /// What the operation needs. Pages and what is nowhere: `read` to look, `operate` to change; pages have forms.
    fn needs(&self, request: &Request) -> Needs {
        let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        let method = if *request.method() == Method::HEAD { Method::GET } else { request.method().clone() };
        let known = path.and_then(|path| self.needs.get(&(method.clone(), path.replace("{*", "{"))));
        known.cloned().unwrap_or_else(|| Needs {
            operation: format!("{method} {}", path.unwrap_or("a path that is not there")),
            scope: if method.is_safe() { Scope::Read } else { Scope::Operate },
            json: false,
        })
    }

    /// Who sends it: where a proxy stands before us, whom the proxy has seen last.
    fn address(&self, request: &Request) -> IpAddr {
        let peer = request.extensions().get::<Peer>().map_or(IpAddr::from([0, 0, 0, 0]), |peer| peer.address);
        if !self.behind_proxy {
            return peer;
        }
        let said = request.headers().get_all("x-forwarded-for").iter().next_back();
        let last = said.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
        last.unwrap_or(peer)
    }

    /// Who it is; `None` where a token is needed and none that is known was shown.
    async fn caller(&self, address: IpAddr, headers: &HeaderMap) -> Reply<Option<Caller>> {
        let now = self.known.now().await?;
        if self.local && now.is_empty() {
            return match headers.keys().find(|name| ["x-forwarded-for", "forwarded"].contains(&name.as_str()))
            {
                None => Ok(Some(local(address))),
                Some(_) => Err(Refused::new(
                    Code::Forbidden,
                    "a proxy passes this request on, and there is no token yet: anybody could come in",
                )
                .hint("make a token with `remora token create`, and start with --behind-proxy")),
            };
        }
        let (token, by_cookie) = match bearer(headers) {
            Some(secret) => (now.find(blake3::hash(secret.as_bytes())), false),
            None => match session(headers).and_then(|value| self.sessions.token(value)) {
                Some(id) => (now.of_id(&id), true),
                None => return Ok(None),
            },
        };
        if let Some(token) = token {
            self.known.used(&token.id);
        }
        Ok(token.map(|token| Caller {
            token: Some(token.id.clone()),
            name: token.name.clone(),
            scopes: token.scopes.clone(),
            address,
            by_cookie,
        }))
    }

    fn unauthenticated(&self, headers: &HeaderMap) -> Refused {
        let shown = headers.contains_key(header::AUTHORIZATION);
        let detail = if shown { "the token is not known, or has expired" } else { "a token is needed" };
        Refused::new(Code::Unauthenticated, detail).hint("send the header `Authorization: Bearer remora_…`")
    }

    /// A place for a stream of this caller.
    pub(crate) fn stream(&self, caller: &Caller) -> Reply<StreamPlace> {
        let client = caller.token.clone().map_or_else(|| Client::of(caller.address), Client::Token);
        self.rates.stream(client).ok_or_else(|| {
            Refused::new(Code::TooMany, "too many streams at once").hint("end one that is open")
        })
    }

    /// Ends when the caller may not look any more.
    pub(crate) async fn gone(self: Arc<Self>, caller: Caller) {
        loop {
            tokio::time::sleep(LOOK_AGAIN).await;
            let Ok(now) = self.known.now().await else { continue };
            let stays = match &caller.token {
                Some(id) => now.of_id(id).is_some(),
                None => now.is_empty(),
            };
            if !stays {
                return;
            }
        }
    }

    /// The token with this secret, for who logs in.
    pub(crate) async fn token_of(&self, secret: &str) -> Reply<Option<(String, String)>> {
        let now = self.known.now().await?;
        let found = secret.starts_with(PREFIX).then(|| now.find(blake3::hash(secret.as_bytes()))).flatten();
        Ok(found.map(|token| (token.id.clone(), token.name.clone())))
    }
}

/// Whether a browser wants to show a page.
fn is_for_a_person(request: &Request) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    *request.method() == Method::GET && accepts.is_some_and(|accepts| accepts.contains("text/html"))
}

/// To the page where one logs in, and back from there.
fn to_login(request: &Request) -> Response {
    let wanted = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let next = utf8_percent_encode(wanted, NON_ALPHANUMERIC);
    (StatusCode::SEE_OTHER, [(header::LOCATION, format!("/login?next={next}"))]).into_response()
}

fn local(address: IpAddr) -> Caller {
    Caller { token: None, name: "local".to_owned(), scopes: vec![Scope::Admin], address, by_cookie: false }
}

fn nobody(address: IpAddr) -> Caller {
    Caller { token: None, name: "nobody".to_owned(), scopes: Vec::new(), address, by_cookie: false }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (kind, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    kind.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// The value of the session's cookie.
pub(crate) fn session(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}
