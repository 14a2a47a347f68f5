//! The OpenAPI document: as checked in, complete, and true of live answers.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use crate::help::{Site, json as body};

const CHECKED_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json");

fn written() -> String {
    let mut text = web::openapi().to_pretty_json().unwrap();
    text.push('\n');
    text
}

fn document() -> Value {
    serde_json::from_str(&written()).unwrap()
}

/// Method, path and operation of each.
fn operations(document: &Value) -> Vec<(Method, String, Value)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            all.push((method.to_uppercase().parse().unwrap(), path.clone(), operation.clone()));
        }
    }
    all
}

#[test]
fn the_document_that_is_checked_in_is_the_one_that_is_served() {
    if std::env::var_os("REMORA_WRITE").is_some() {
        std::fs::write(CHECKED_IN, written()).unwrap();
    }
    let checked_in = std::fs::read_to_string(CHECKED_IN).unwrap_or_default();
    assert!(
        checked_in == written(),
        "docs/reference/openapi.json differs; REMORA_WRITE=1 with this test writes it"
    );
}

#[test]
fn every_handler_stands_in_the_document_and_nothing_else_does() {
    let mut handlers = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/routes")).unwrap() {
        handlers +=
            std::fs::read_to_string(entry.unwrap().path()).unwrap().matches("#[utoipa::path(").count();
    }
    assert_eq!(operations(&document()).len(), handlers);
}

#[tokio::test]
async fn every_operation_of_the_document_is_served() {
    let site = Site::open().await;
    for (method, path, operation) in operations(&document()) {
        let id = operation["operationId"].as_str().unwrap();
        let place = path.replace("{job}", "x").replace("{path}", "x").replace("{queue}", "x");
        let place = place.replace("{incarnation}", "x").replace("{id}", "x").replace("{code}", "invalid");
        let answer = site.request(method, &place).body("x").send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status != 405 && !text.contains("there is no path"), "{id}: {status} {text}");
    }
}

#[test]
fn every_operation_but_the_public_ones_names_the_scope_that_it_needs() {
    for (method, path, operation) in operations(&document()) {
        let scope = operation["security"][0]["token"][0].as_str();
        let public = ["/healthz", "/readyz", "/login"].contains(&path.as_str());
        assert_eq!(scope.is_none(), public, "{path}");
        let admin = path.contains("/tokens") || path.contains("/trail") || method == Method::PATCH;
        let wanted = match (&method, path.as_str()) {
            _ if admin => "admin",
            (&Method::GET, _) | (_, "/logout") => "read",
            (_, "/v1/jobs" | "/v1/jobs/batch") => "submit",
            _ => "operate",
        };
        assert!(public || scope == Some(wanted), "{method} {path}: {scope:?}");
    }
}

/// Checks a live answer against the schema that the document has for it.
struct Judge {
    document: Value,
    seen: BTreeMap<String, u32>,
}

impl Judge {
    fn schema(&self, method: &Method, path: &str, (status, kind): (u16, &str)) -> Value {
        let operation = &self.document["paths"][path][method.as_str().to_lowercase()];
        let responses = &operation["responses"];
        let range = format!("{}XX", status / 100);
        let response = match &responses[status.to_string()] {
            Value::Null => &responses[range],
            known => known,
        };
        let content = &response["content"][kind.split(';').next().unwrap()];
        assert!(
            !content.is_null() || status == 204,
            "{method} {path}: {status} {kind} is not in the document"
        );
        json!({"$ref": "#/schema", "schema": content["schema"], "components": self.document["components"]})
    }

    async fn judge(
        &mut self,
        site: &Site,
        (method, template, path): (Method, &str, &str),
        text: Option<&str>,
    ) -> Value {
        let mut request = site.request(method.clone(), path);
        if let Some(text) = text {
            request = request.header("content-type", "application/json").body(text.to_owned());
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let kind =
            response.headers().get("content-type").map_or("", |kind| kind.to_str().unwrap()).to_owned();
        let schema = self.schema(&method, template, (status, &kind));
        *self.seen.entry(format!("{method} {template}")).or_default() += 1;
        let bytes = response.bytes().await.unwrap();
        if !kind.contains("json") {
            return Value::Null;
        }
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{method} {path}: {errors:?}\n{value}");
        value
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_answers_of_every_operation_are_what_the_document_says() {
    let site = Site::open().await;
    let mut judge = Judge { document: document(), seen: BTreeMap::new() };
    let (get, post) = (Method::GET, Method::POST);
    site.place.register().await;
    let program = r#"{"command":["true"],"args":{"a":[1,{}]},"idempotency_key":"k","scheduled_at":"2026-01-01T00:00:00Z"}"#;
    let done = judge.judge(&site, (post.clone(), "/v1/jobs", "/v1/jobs"), Some(program)).await;
    judge.judge(&site, (post.clone(), "/v1/jobs", "/v1/jobs"), Some(program)).await;
    judge.judge(&site, (post.clone(), "/v1/jobs", "/v1/jobs"), Some("{}")).await;
    let batch = r#"{"jobs":[{"kind":"a"},{"kind":""}]}"#;
    judge.judge(&site, (post.clone(), "/v1/jobs/batch", "/v1/jobs/batch"), Some(batch)).await;
    let job = done["job"].as_str().unwrap().to_owned();
    let stage = site.place.claim(job.parse().unwrap()).await;
    let running = format!("/v1/jobs/{job}");
    judge.judge(&site, (get.clone(), "/v1/jobs/{job}", &running), None).await;
    site.place.write_log(&stage, "hello\n").await;
    site.place.publish(&stage, &[("lines", b"0123")]).await;
    for (template, path) in [
        ("/v1/jobs/{job}", format!("/v1/jobs/{job}")),
        ("/v1/jobs/{job}", "/v1/jobs/x".to_owned()),
        ("/v1/jobs/{job}/why", format!("/v1/jobs/{job}/why")),
        ("/v1/jobs/{job}/inspect", format!("/v1/jobs/{job}/inspect")),
        ("/v1/jobs/{job}/events", format!("/v1/jobs/{job}/events")),
        ("/v1/jobs/{job}/log", format!("/v1/jobs/{job}/log?attempt=1")),
        ("/v1/jobs/{job}/result", format!("/v1/jobs/{job}/result")),
        ("/v1/jobs/{job}/result/entries", format!("/v1/jobs/{job}/result/entries?limit=1")),
        ("/v1/jobs/{job}/result/files/{path}", format!("/v1/jobs/{job}/result/files/lines")),
        ("/v1/jobs/{job}/result/files/{path}", format!("/v1/jobs/{job}/result/files/nothing")),
        ("/v1/jobs", "/v1/jobs?limit=1".to_owned()),
        ("/v1/jobs", "/v1/jobs?limit=0".to_owned()),
        ("/v1/workers", "/v1/workers".to_owned()),
        ("/v1/queues", "/v1/queues".to_owned()),
        ("/v1/pool", "/v1/pool".to_owned()),
        ("/v1/overview", "/v1/overview".to_owned()),
        ("/v1/doctor", "/v1/doctor".to_owned()),
        ("/v1/openapi.json", "/v1/openapi.json".to_owned()),
        ("/healthz", "/healthz".to_owned()),
        ("/readyz", "/readyz".to_owned()),
        ("/errors/{code}", "/errors/invalid".to_owned()),
    ] {
        judge.judge(&site, (get.clone(), template, &path), None).await;
    }
    let list = format!(r#"{{"jobs":["{job}"]}}"#);
    for (template, path, text) in [
        ("/v1/jobs/cancel", "/v1/jobs/cancel".to_owned(), Some(&*list)),
        ("/v1/jobs/retry", "/v1/jobs/retry".to_owned(), Some(&*list)),
        ("/v1/jobs/{job}/cancel", format!("/v1/jobs/{job}/cancel"), None),
        ("/v1/jobs/{job}/retry", format!("/v1/jobs/{job}/retry"), None),
        ("/v1/workers/{incarnation}/drain", format!("/v1/workers/{}/drain", protocol::Incarnation(5)), None),
        ("/v1/queues/{queue}/pause", "/v1/queues/a/pause".to_owned(), None),
        ("/v1/queues/{queue}/resume", "/v1/queues/a/resume".to_owned(), None),
        ("/login", "/login".to_owned(), Some(r#"{"token":"x"}"#)),
        ("/logout", "/logout".to_owned(), None),
    ] {
        judge.judge(&site, (post.clone(), template, &path), text).await;
    }
    judge.judge(&site, (Method::PATCH, "/v1/pool", "/v1/pool"), Some(r#"{"global":7}"#)).await;
    ask_as_admin(&site, &mut judge).await;
    let events = site.get("/v1/events").await;
    assert!(
        judge.schema(&get, "/v1/events", (events.status().as_u16(), "text/event-stream"))["schema"]
            .is_object()
    );
    *judge.seen.entry("GET /v1/events".to_owned()).or_default() += 1;
    for (method, path, _) in operations(&judge.document) {
        assert!(judge.seen.contains_key(&format!("{method} {path}")), "{method} {path} was not asked");
    }
}

/// From the first token on the others need one, too: this comes last.
async fn ask_as_admin(site: &Site, judge: &mut Judge) {
    let trail = judge.judge(site, (Method::GET, "/v1/trail", "/v1/trail?limit=2"), None).await;
    assert_eq!(trail["items"].as_array().unwrap().len(), 2);
    judge.judge(site, (Method::GET, "/v1/tokens", "/v1/tokens"), None).await;
    let (delete, path) = (Method::DELETE, "/v1/tokens/0123456789abcdef");
    judge.judge(site, (delete, "/v1/tokens/{id}", path), None).await;
    let asked = r#"{"name":"a","scopes":["admin"],"lasts_ms":60000}"#;
    let made = judge.judge(site, (Method::POST, "/v1/tokens", "/v1/tokens"), Some(asked)).await;
    let all = site.request(Method::GET, "/v1/tokens").bearer_auth(made["token"].as_str().unwrap());
    let all = body(all.send().await.unwrap()).await;
    assert_eq!(all[0]["id"], made["id"]);
    let events = site.request(Method::DELETE, &format!("/v1/tokens/{}", made["id"].as_str().unwrap()));
    assert_eq!(events.bearer_auth(made["token"].as_str().unwrap()).send().await.unwrap().status(), 204);
}
