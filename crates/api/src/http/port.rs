//! The port's methods, one request each.

use std::ops::Range;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use protocol::{Incarnation, JobId};
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, RANGE};
use reqwest::{Method, Response, StatusCode};

use super::Http;
use super::send::{Fields, name};
use super::sse;
use crate::port::{Answer, Api, Bytestream, FileBody, Watching};
use crate::v1::{
    Cancelled, Code, Inspection, Item, Items, Job, JobDetail, JobIds, JobQuery, Overview, Page, Pool,
    PoolChange, Problem, Queue, Readiness, ReadyCheck, ResultEntry, ResultSummary, Retried, RoomReport,
    Submission, Submissions, Submitted, Why, Worker,
};

/// Entries on one page that the server gives at most.
const PAGE: usize = 1_000;

fn bytes(response: Response) -> Bytestream {
    let broken = |error: reqwest::Error| {
        Problem::new(Code::Unavailable, format!("the answer broke off: {}", error.without_url()))
    };
    Box::pin(response.bytes_stream().map(move |piece| piece.map_err(broken)))
}

/// A number behind the last of these letters in a header.
fn number(response: &Response, header: &reqwest::header::HeaderName, behind: char) -> Option<u64> {
    response.headers().get(header)?.to_str().ok()?.rsplit(behind).next()?.parse().ok()
}

fn ids(jobs: &[JobId]) -> JobIds {
    JobIds { jobs: jobs.to_vec() }
}

#[async_trait]
impl Api for Http {
    async fn jobs(&self, query: &JobQuery) -> Answer<Page<Job>> {
        let phases: Vec<_> = query.phase.iter().map(ToString::to_string).collect();
        let fields = Fields::default()
            .with("phase", (!phases.is_empty()).then(|| phases.join(",")))
            .with("kind", query.kind.as_ref())
            .with("queue", query.queue.as_ref())
            .with("worker", query.worker.as_ref())
            .with("created_from", query.created_from)
            .with("created_until", query.created_until)
            .with("text", query.text.as_ref())
            .with("cursor", query.cursor.as_ref())
            .with("limit", query.limit);
        self.get(&fields.behind("/v1/jobs")).await
    }

    async fn job(&self, job: JobId) -> Answer<JobDetail> {
        self.get(&format!("/v1/jobs/{job}")).await
    }

    async fn submit(&self, jobs: Vec<Submission>) -> Answer<Vec<Item<Submitted>>> {
        let items: Items<_> = self.post("/v1/jobs/batch", &Submissions { jobs }).await?;
        Ok(items.items)
    }

    async fn cancel(&self, jobs: &[JobId]) -> Answer<Vec<Item<Cancelled>>> {
        Ok(self.post::<Items<_>>("/v1/jobs/cancel", &ids(jobs)).await?.items)
    }

    async fn retry(&self, jobs: &[JobId]) -> Answer<Vec<Item<Retried>>> {
        Ok(self.post::<Items<_>>("/v1/jobs/retry", &ids(jobs)).await?.items)
    }

    async fn why(&self, job: JobId) -> Answer<Why> {
        self.get(&format!("/v1/jobs/{job}/why")).await
    }

    async fn inspect(&self, job: JobId) -> Answer<Inspection> {
        self.get(&format!("/v1/jobs/{job}/inspect")).await
    }

    async fn watch(&self, job: JobId) -> Answer<Watching> {
        sse::follow(self.clone(), format!("/v1/jobs/{job}/events")).await
    }

    async fn events(&self) -> Answer<Watching> {
        sse::follow(self.clone(), "/v1/events".to_owned()).await
    }

    async fn log(&self, job: JobId, attempt: Option<u32>, follow: bool) -> Answer<Bytestream> {
        let fields = Fields::default().with("attempt", attempt).with("follow", follow.then_some(true));
        let request = self.request(Method::GET, &fields.behind(&format!("/v1/jobs/{job}/log")));
        Ok(bytes(self.answer(request).await?))
    }

    async fn result(&self, job: JobId) -> Answer<ResultSummary> {
        self.get(&format!("/v1/jobs/{job}/result")).await
    }

    async fn result_entries(
        &self,
        job: JobId,
        after: Option<&str>,
        limit: usize,
    ) -> Answer<Page<ResultEntry>> {
        let fields = Fields::default().with("after", after).with("limit", Some(limit.clamp(1, PAGE)));
        self.get(&fields.behind(&format!("/v1/jobs/{job}/result/entries"))).await
    }

    async fn result_file(&self, job: JobId, path: &str, range: Range<u64>) -> Answer<FileBody> {
        let names: Vec<_> = path.split('/').map(|part| name(part).to_string()).collect();
        let path = format!("/v1/jobs/{job}/result/files/{}", names.join("/"));
        let head = self.answer(self.request(Method::HEAD, &path)).await;
        // A HEAD's problem has no body: whoever asks for the file is told.
        let head = match head {
            Ok(head) => head,
            Err(_) => self.answer(self.request(Method::GET, &path)).await?,
        };
        let length = number(&head, &CONTENT_LENGTH, ' ').unwrap_or(0);
        let tag = head.headers().get(ETAG).and_then(|tag| tag.to_str().ok());
        let digest = tag.and_then(|tag| tag.strip_prefix("\"blake3-")?.strip_suffix('"')).map(str::to_owned);
        let range = range.start.min(length)..range.end.min(length);
        if range.start >= range.end {
            return Ok(FileBody { length, range, digest, bytes: Box::pin(stream::empty()) });
        }
        let asked = format!("bytes={}-{}", range.start, range.end - 1);
        let response = self.answer(self.request(Method::GET, &path).header(RANGE, asked)).await?;
        let is_part = response.status() == StatusCode::PARTIAL_CONTENT;
        if !is_part || number(&response, &CONTENT_RANGE, '/') != Some(length) {
            return Err(Problem::new(Code::Unsupported, format!("{} does not give ranges", self.url())));
        }
        Ok(FileBody { length, range, digest, bytes: bytes(response) })
    }

    async fn workers(&self) -> Answer<Vec<Worker>> {
        self.get("/v1/workers").await
    }

    async fn drain(&self, worker: Incarnation) -> Answer<()> {
        let request = self.request(Method::POST, &format!("/v1/workers/{worker}/drain"));
        self.answer(request).await.map(drop)
    }

    async fn queues(&self) -> Answer<Vec<Queue>> {
        self.get("/v1/queues").await
    }

    async fn pool(&self) -> Answer<Pool> {
        self.get("/v1/pool").await
    }

    async fn configure(&self, change: &PoolChange) -> Answer<Pool> {
        // A pause alone needs less than what changes limits.
        let act = match change {
            PoolChange { global: None, lease_ms: None, pause: Some(queue), resume: None } => {
                Some((queue, "pause"))
            }
            PoolChange { global: None, lease_ms: None, pause: None, resume: Some(queue) } => {
                Some((queue, "resume"))
            }
            _ => None,
        };
        let request = match act.filter(|(queue, _)| !queue.is_empty()) {
            Some((queue, act)) => self.request(Method::POST, &format!("/v1/queues/{}/{act}", name(queue))),
            None => self.with_body(Method::PATCH, "/v1/pool", change)?,
        };
        self.document(request).await
    }

    async fn overview(&self) -> Answer<Overview> {
        self.get("/v1/overview").await
    }

    async fn doctor(&self) -> Answer<Vec<RoomReport>> {
        self.get("/v1/doctor").await
    }

    async fn readiness(&self) -> Readiness {
        let request = self.request(Method::GET, "/readyz");
        // Not ready is an answer, with a document of its own.
        let answer = tokio::time::timeout(self.timeout, async {
            let response = request.send().await.ok()?;
            response.bytes().await.ok()
        });
        let read = answer.await.ok().flatten().and_then(|body| serde_json::from_slice(&body).ok());
        read.unwrap_or_else(|| Readiness {
            ready: false,
            checks: vec![ReadyCheck {
                name: "claim".to_owned(),
                ok: false,
                text: format!("{} gave no answer", self.url()),
            }],
        })
    }
}
