//! `remora retry JOB…`.

use durable::Retried;
use protocol::{Guard, JobId};
use remora::ClientError;
use serde_json::json;

use super::change::{Change, each};
use crate::access::Site;
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, jobs: Vec<JobId>, printer: &Printer) -> Result<u8, Failure> {
    each(site, &jobs, Change::Retry, printer).await
}

/// What a retry came to, for people and for programs.
pub(crate) fn describe(job: JobId, retried: Retried) -> (String, serde_json::Value) {
    match retried {
        Retried::DueNow => (format!("{job} is queued now"), json!({ "job": job, "retried": "due_now" })),
        Retried::Offered => (format!("{job} is offered again"), json!({ "job": job, "retried": "offered" })),
        Retried::NewJob(new) => (
            format!("{new} is a new job, a retry of {job}"),
            json!({ "job": job, "retried": "new_job", "new_job": new }),
        ),
    }
}

/// A refused retry in plain words.
pub(crate) fn refusal(job: JobId, error: ClientError) -> Failure {
    match error {
        ClientError::Refused(Guard::Terminal) => {
            Failure::new(code::REFUSED, format!("{job} is under way and needs no retry"))
        }
        ClientError::Refused(Guard::Cancellable) => {
            Failure::new(code::REFUSED, format!("{job} has succeeded; its result is published"))
                .hint("submit it anew to run it again")
        }
        ClientError::NoSuchJob(job) => Failure::new(code::NOT_FOUND, format!("there is no job {job}")),
        other => other.into(),
    }
}
