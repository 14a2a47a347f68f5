//! Many jobs: trial J1, the API's side of it.

use std::time::{Duration, Instant};

use api::Api as _;
use api::v1::Submission;
use reqwest::Method;

use crate::help::{Site, json};

/// Jobs that are stored; the figures of ten millions stand in docs/figures.md.
const JOBS: usize = 50_000;
/// Clients that ask at once.
const CLIENTS: usize = 20;
const LIMIT: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn j1_every_list_and_count_is_quick_with_many_jobs_and_many_clients() {
    let site = Site::open().await;
    let direct = site.place.direct();
    let job = |number: usize| Submission {
        kind: Some(format!("kind{}", number % 7)),
        queue: Some(format!("queue{}", number % 3)),
        ..Submission::default()
    };
    for first in (0..JOBS).step_by(10_000) {
        direct.submit((first..first + 10_000).map(job).collect()).await.unwrap();
    }
    let paths = [
        "/v1/jobs",
        "/v1/jobs?limit=1000",
        "/v1/jobs?kind=kind3&queue=queue1",
        "/v1/jobs?phase=failed",
        "/v1/jobs?text=nothing%20has%20this",
        "/v1/jobs?created_until=2001-01-01T00:00:00Z",
        "/v1/queues",
        "/v1/overview",
        "/readyz",
    ];
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let requests: Vec<_> = (0..paths.len())
            .map(|number| {
                let path = paths[(client + number) % paths.len()];
                (path, site.request(Method::GET, path))
            })
            .collect();
        clients.spawn(async move {
            let mut slowest = (Duration::ZERO, "");
            for (path, request) in requests {
                let began = Instant::now();
                let answer = request.send().await.unwrap();
                assert!(answer.status().is_success(), "{path}: {}", answer.status());
                answer.bytes().await.unwrap();
                slowest = slowest.max((began.elapsed(), path));
            }
            slowest
        });
    }
    let slowest = clients.join_all().await.into_iter().max().unwrap();
    assert!(slowest.0 < LIMIT * u32::try_from(CLIENTS).unwrap() / 4, "{slowest:?} beside {CLIENTS} others");
    for path in paths {
        let began = Instant::now();
        site.get(path).await.bytes().await.unwrap();
        assert!(began.elapsed() < LIMIT, "{path}: {:?}", began.elapsed());
    }
    let (mut seen, mut cursor) = (0, String::new());
    loop {
        let page = json(site.get(&format!("/v1/jobs?limit=1000{cursor}")).await).await;
        seen += page["items"].as_array().unwrap().len();
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, JOBS, "paged to the end");
}
