//! A server over a fresh place, and requests to it.

use std::sync::Arc;

use api::conformance::Place;
use api::v1::TokenRequest;
use durable::{Access, Scope};
use remora_web::{Handle, Options, Served, make_token, serve};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::Value;
use tokio::net::TcpListener;

pub(crate) struct Site {
    pub(crate) place: Place,
    pub(crate) handle: Handle,
    pub(crate) client: Client,
    pub(crate) url: String,
}

/// The door that a place has.
pub(crate) fn access(place: &Place) -> Arc<dyn Access> {
    Arc::clone(&place.durable) as Arc<dyn Access>
}

pub(crate) fn served(place: &Place) -> Served {
    Served { api: Arc::new(place.direct()), access: access(place) }
}

pub(crate) async fn loopback() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

impl Site {
    pub(crate) async fn open() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let place = Place::new().await;
        let handle = serve(loopback().await, served(&place), options).await.unwrap();
        Self { url: handle.url(), place, handle, client: client() }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    /// Posts bytes as JSON.
    pub(crate) async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> Response {
        self.request(Method::POST, path)
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await
            .unwrap()
    }

    /// Makes a token with these scopes, behind the server's back.
    pub(crate) async fn token(&self, scopes: &[Scope]) -> (String, String) {
        token(&access(&self.place), scopes, None).await
    }
}

pub(crate) fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// The token's id and the token.
pub(crate) async fn token(
    access: &Arc<dyn Access>,
    scopes: &[Scope],
    lasts_ms: Option<u64>,
) -> (String, String) {
    let scopes = scopes.iter().map(|scope| (*scope).into()).collect();
    let asked = TokenRequest { name: "test".to_owned(), scopes, lasts_ms };
    let made = make_token(access.as_ref(), asked).await.unwrap().unwrap();
    (made.about.id, made.token)
}

/// The problem in a response, whose form is checked.
pub(crate) async fn problem(response: Response) -> Value {
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], "application/problem+json", "{status}");
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    let problem: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(problem["status"], status, "{problem}");
    assert_eq!(problem["type"], format!("/errors/{}", problem["code"].as_str().unwrap()));
    problem
}

/// The code of the problem in a response.
pub(crate) async fn code(response: Response) -> (u16, String) {
    let problem = problem(response).await;
    let status = u16::try_from(problem["status"].as_u64().unwrap()).unwrap();
    (status, problem["code"].as_str().unwrap().to_owned())
}

pub(crate) async fn json(response: Response) -> Value {
    let status = response.status();
    let bytes = response.bytes().await.unwrap();
    assert!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&bytes));
    serde_json::from_slice(&bytes).unwrap()
}
