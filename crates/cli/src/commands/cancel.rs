//! `remora cancel JOB…`.

use protocol::{Guard, JobId, Phase};
use remora::ClientError;
use serde_json::json;

use super::change::{Change, each};
use crate::access::Site;
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, jobs: Vec<JobId>, printer: &Printer) -> Result<u8, Failure> {
    each(site, &jobs, Change::Cancel, printer).await
}

/// What a cancel came to, for people and for programs.
pub(crate) fn describe(job: JobId, phase: Phase) -> (String, serde_json::Value) {
    let text = match phase {
        Phase::Cancelling => format!("{job} is cancelling: nothing of it will be published"),
        _ => format!("{job} is cancelled"),
    };
    (text, json!({ "job": job, "phase": phase }))
}

/// A refused cancel in plain words.
pub(crate) fn refusal(job: JobId, error: ClientError) -> Failure {
    match error {
        ClientError::Refused(Guard::Cancellable) => {
            Failure::new(code::REFUSED, format!("{job} has ended already and cannot be cancelled"))
                .hint(format!("`remora show {job}` tells how it ended"))
        }
        ClientError::NoSuchJob(job) => Failure::new(code::NOT_FOUND, format!("there is no job {job}")),
        other => other.into(),
    }
}
