//! Measures each page over many jobs: `cargo run --release -p remora-pages --example measure -- 1000000`.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "it measures, by hand, and tells a person")]

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use api::conformance::Place;
use api::v1::Submission;
use api::{Api, Direct};
use axum::Extension;
use axum::body::Body;
use axum::http::Request;
use durable::Scope;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;
use web::Caller;

/// Jobs that are submitted at once.
const BATCH: usize = 10_000;
/// Times that each page is asked for.
const TIMES: usize = 20;

async fn fill(direct: &Direct, jobs: usize) -> String {
    let mut last = String::new();
    let mut left = jobs;
    while left > 0 {
        let now = left.min(BATCH);
        let job = |number: usize| Submission {
            kind: Some(if number.is_multiple_of(3) { "ocr" } else { "exec" }.to_owned()),
            queue: Some(format!("queue-{}", number % 20)),
            command: (!number.is_multiple_of(3)).then(|| vec!["./export.sh".to_owned(), number.to_string()]),
            ..Submission::default()
        };
        let answers = direct.submit((0..now).map(job).collect()).await.unwrap();
        last = answers.last().unwrap().done().unwrap().job.to_string();
        left -= now;
    }
    last
}

#[tokio::main]
async fn main() {
    let jobs = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().unwrap());
    let place = Place::new().await;
    let began = Instant::now();
    let last = fill(&place.direct(), jobs).await;
    println!("{jobs} jobs in {:.1?}", began.elapsed());
    place.register().await;
    let caller = Caller {
        token: None,
        name: "local".to_owned(),
        scopes: vec![Scope::Admin],
        address: IpAddr::from([127, 0, 0, 1]),
        by_cookie: false,
    };
    let api: Arc<dyn Api> = Arc::new(place.direct());
    let job = format!("/jobs/{last}");
    for path in [
        "/",
        "/jobs",
        "/jobs?phase=queued&queue=queue-7",
        "/jobs?kind=ocr",
        "/jobs?text=nowhere",
        "/jobs?phase=failed",
        &job,
        "/workers",
        "/queues",
        "/limits",
    ] {
        let mut took = Vec::new();
        let mut bytes = 0;
        for _ in 0..TIMES {
            // A fresh router: nothing that was read before is shared.
            let pages = remora_pages::router(Arc::clone(&api)).layer(Extension(caller.clone()));
            let began = Instant::now();
            let response = pages.oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
            assert!(response.status().is_success(), "{path}: {}", response.status());
            bytes = response.into_body().collect().await.unwrap().to_bytes().len();
            took.push(began.elapsed());
        }
        took.sort_unstable();
        println!(
            "{path:40} median {:>9.1?}  worst {:>9.1?}  {bytes} bytes",
            took[TIMES / 2],
            took[TIMES - 1]
        );
    }
}
