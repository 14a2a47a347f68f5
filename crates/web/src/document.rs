//! The OpenAPI document, and what it says of each operation.
//!
//! Promises: it is made from the handlers' own words, so a route without them does not exist; the scope that the door asks
//! for is the one that stands in the document.

use std::collections::BTreeMap;

use axum::http::Method;
use durable::Scope;
use serde_json::Value;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi as _};

use crate::access::COOKIE;
use crate::router;

/// What the handlers do not say.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Remora",
        version = "1",
        description = "Long jobs on many machines, each result published once. Errors are problems of RFC 9457; each code \
                       has a page under /errors.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    paths(crate::routes::results::result_file),
    components(schemas(api::Problem)),
    modifiers(&Doors),
)]
pub(crate) struct Frame;

struct Doors;

impl Modify for Doors {
    fn modify(&self, openapi: &mut OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let token = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("A token, `remora_…`. None is needed on loopback while there are no tokens."))
            .build();
        components.add_security_scheme("token", SecurityScheme::Http(token));
        let cookie =
            ApiKey::Cookie(ApiKeyValue::with_description(COOKIE, "The session that POST /login begins."));
        components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    }
}

/// The whole document.
#[must_use]
pub fn openapi() -> OpenApi {
    complete(router::api().split_for_parts().1)
}

/// Adds to each operation what all of them may answer.
pub(crate) fn complete(mut openapi: OpenApi) -> OpenApi {
    for item in openapi.paths.paths.values_mut() {
        let operations =
            [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete, &mut item.head];
        operations.into_iter().flatten().for_each(with_problems);
    }
    openapi
}

fn with_problems(operation: &mut Operation) {
    for (range, text) in
        [("4XX", "It was not done."), ("5XX", "It was not done, or it is not known whether.")]
    {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response =
            ResponseBuilder::new().description(text).content("application/problem+json", problem).build();
        operation.responses.responses.entry(range.to_owned()).or_insert_with(|| response.into());
    }
}

/// What an operation needs.
#[derive(Debug, Clone)]
pub(crate) struct Needs {
    /// Its name.
    pub(crate) operation: String,
    /// The scope.
    pub(crate) scope: Scope,
    /// Whether a body must be JSON.
    pub(crate) json: bool,
}

/// What each operation needs, by method and path.
pub(crate) fn needs(openapi: &OpenApi) -> BTreeMap<(Method, String), Needs> {
    let document = serde_json::to_value(openapi).unwrap_or_default();
    let paths = document["paths"].as_object().into_iter().flatten();
    let mut needs = BTreeMap::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let Ok(method) = method.to_ascii_uppercase().parse::<Method>() else { continue };
            let Some(name) = operation["operationId"].as_str() else { continue };
            needs.insert((method, path.clone()), need(name, operation));
        }
    }
    needs
}

fn need(name: &str, operation: &Value) -> Needs {
    let scope = operation["security"][0]["token"][0].as_str().and_then(|scope| scope.parse().ok());
    let forms = operation["requestBody"]["content"].as_object().is_some_and(|content| content.len() > 1);
    // A page's button that ends the session has no body that could be JSON.
    let forms = forms || name == "logout";
    Needs { operation: name.to_owned(), scope: scope.unwrap_or(Scope::Read), json: !forms }
}

/// The document as it is checked in.
pub(crate) fn text(openapi: &OpenApi) -> String {
    let mut text = openapi.to_pretty_json().unwrap_or_default();
    text.push('\n');
    text
}

pub(crate) fn frame() -> OpenApi {
    Frame::openapi()
}
