//! The port over HTTP gives the same answers as the port over the rooms.

use std::sync::Arc;

use api::Api;
use api::conformance::Way;
use api::http::{Http, HttpOptions};
use durable::{Access, Scope};
use remora_web::{Options, Served, serve};

use crate::help::{loopback, token};

async fn over_http(api: Arc<dyn Api>, access: Arc<dyn Access>) -> Way {
    let (_, secret) = token(&access, &[Scope::Admin], None).await;
    let handle = serve(loopback().await, Served { api, access }, Options::default()).await.unwrap();
    let options = HttpOptions { token: Some(secret), ..HttpOptions::new(handle.url()) };
    (Arc::new(Http::new(options).unwrap()), Box::new(handle))
}

api::api_conformance!(crate::conformance::over_http);
