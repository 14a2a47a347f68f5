//! Streams: taken up again, and ended.

use std::sync::Arc;
use std::time::Duration;

use api::Api as _;
use api::http::{Http, HttpOptions};
use durable::Scope;
use futures_util::StreamExt as _;
use remora_web::{Options, serve};
use reqwest::Method;
use tokio::time::timeout;

use crate::help::{Site, access, loopback, served};

async fn first(response: reqwest::Response) -> String {
    let mut bytes = response.bytes_stream();
    let mut text = String::new();
    while !text.contains("data: ") || !text.ends_with("\n\n") {
        text.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
    }
    text
}

#[tokio::test]
async fn a_stream_taken_up_again_goes_on_with_what_is_newer() {
    let site = Site::open().await;
    let job = site.place.submit("k").await;
    let path = format!("/v1/jobs/{job}/events");
    let text = first(site.get(&path).await).await;
    assert!(text.starts_with("retry: 1000\n\nid: "), "{text}");
    assert!(text.contains("\nevent: job\ndata: {"), "{text}");
    let id = text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    let again = site.request(Method::GET, &path).header("last-event-id", &id).send().await.unwrap();
    let reading = tokio::spawn(first(again));
    site.place.claim(job).await;
    let text = timeout(Duration::from_secs(10), reading).await.unwrap().unwrap();
    assert!(text.contains("\"phase\":\"running\"") && !text.contains("\"phase\":\"queued\""), "{text}");
    let ended = site.place.submit("k").await;
    let stage = site.place.claim(ended).await;
    site.place.fail(&stage, "no").await;
    let whole = site.get(&format!("/v1/jobs/{ended}/events")).await.text().await.unwrap();
    assert_eq!(whole.matches("event: job").count(), 1, "the stream of an ended job ends: {whole}");
}

#[tokio::test]
async fn streams_end_with_the_server_and_requests_under_way_are_answered() {
    let site = Site::open().await;
    let job = site.place.submit("k").await;
    let stage = site.place.claim(job).await;
    site.place.write_log(&stage, "hello").await;
    let mut events = site.get("/v1/events").await;
    let mut log = site.get(&format!("/v1/jobs/{job}/log?follow=true")).await;
    let mut told = String::new();
    while !told.contains("event: overview") {
        told.push_str(std::str::from_utf8(&events.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert_eq!(log.chunk().await.unwrap().unwrap(), "hello");
    let (events, log) = (tokio::spawn(events.text()), tokio::spawn(log.text()));
    timeout(Duration::from_secs(4), site.handle.shutdown()).await.expect("it ends at once");
    events.await.unwrap().unwrap();
    assert_eq!(log.await.unwrap().unwrap(), "");
}

#[tokio::test]
async fn a_stream_ends_within_seconds_of_its_token() {
    let site = Site::open().await;
    let (id, secret) = site.token(&[Scope::Read]).await;
    site.token(&[Scope::Read]).await;
    let stream = site.request(Method::GET, "/v1/events").bearer_auth(&secret).send().await.unwrap();
    access(&site.place).revoke_token(&id).await.unwrap();
    timeout(Duration::from_secs(15), stream.text()).await.expect("it ends").unwrap();
}

#[tokio::test]
async fn a_client_goes_on_through_a_restart_of_the_server() {
    let site = Site::open().await;
    let job = site.place.submit("k").await;
    let address = site.handle.address();
    let http = Arc::new(Http::new(HttpOptions::new(&site.url)).unwrap());
    let mut events = http.watch(job).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().job.unwrap().phase.name(), "queued");
    site.handle.shutdown().await;
    let gone = http.job(job).await.err().unwrap();
    assert_eq!(gone.code.name(), "unavailable", "{gone}");
    let listener = loop {
        match tokio::net::TcpListener::bind(address).await {
            Ok(listener) => break listener,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let handle = serve(listener, served(&site.place), Options::default()).await.unwrap();
    let stage = site.place.claim(job).await;
    site.place.fail(&stage, "no").await;
    let mut phases = Vec::new();
    while let Some(event) = timeout(Duration::from_secs(20), events.next()).await.expect("it goes on") {
        phases.push(event.unwrap().job.unwrap().phase.name());
    }
    assert_eq!(phases.last(), Some(&"failed"));
    assert!(!phases.contains(&"queued"), "nothing is told twice: {phases:?}");
    handle.shutdown().await;
    drop(loopback().await);
}
