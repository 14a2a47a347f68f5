//! `remora submit`.

use std::path::Path;

use durable::{Durable, Submit, Submitted};
use protocol::JobSpec;
use remora::DataFolder;
use runtime::{Caller, Runtime};
use serde_json::json;

use crate::access::Site;
use crate::args::SubmitArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;
use crate::spec::job_spec;

pub(crate) async fn run(site: &Site, args: SubmitArgs, printer: &Printer) -> Result<u8, Failure> {
    let spec = job_spec(args.job, JobSpec::default().max_attempts)?;
    let (submitted, runs) = match site.connect().await? {
        Some(client) => (client.submit(spec).await.map_err(explain)?, true),
        #[cfg(feature = "embedded")]
        None => (submit_offline(&site.dir, spec).await?, false),
        #[cfg(not(feature = "embedded"))]
        None => {
            return Err(site.client().await.err().unwrap_or_else(|| Failure::new(code::FAILED, "try again")));
        }
    };
    if printer.is_json() {
        printer
            .json(&json!({ "job": submitted.job, "existed": submitted.existed, "phase": submitted.phase }))?;
    } else {
        printer.line(&submitted.job.to_string());
    }
    if submitted.existed {
        printer.remark("the job was there already, under this idempotency key");
    }
    if !runs {
        printer.hint("nothing runs it yet; start `remora dev`");
    }
    Ok(code::OK)
}

/// A refusal in the words of the person who submits.
pub(crate) fn explain(error: remora::ClientError) -> Failure {
    match error {
        remora::ClientError::Refused(protocol::Guard::SameRequest) => {
            Failure::new(code::REFUSED, "idempotency_key stands for another request already")
                .hint("use another key, or submit exactly what was submitted with it")
        }
        remora::ClientError::Invalid(violation) => Failure::from(violation).with_code(code::USAGE),
        other => other.into(),
    }
}

#[cfg(feature = "embedded")]
async fn submit_offline(dir: &Path, spec: JobSpec) -> Result<Submitted, Failure> {
    let write = server::OfflineWrite::open(&DataFolder::new(dir))?;
    let runtime = Runtime::system();
    let job = runtime.new_job_id();
    let sent = Caller::new(runtime.new_actor_id()).send();
    let answers = write.room.submit(&sent.origin, &[Submit { job, spec, retry_of: None }]).await?;
    remora::answer_about(job, answers).map_err(explain)
}
