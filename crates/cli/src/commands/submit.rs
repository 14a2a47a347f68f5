//! `remora submit`.

use api::Api;
use api::v1::{Problem, Submission, Submitted};
use protocol::JobSpec;

use crate::access::{Site, problem};
use crate::args::SubmitArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;
use crate::spec::submission;

pub(crate) async fn run(site: &Site, args: SubmitArgs, printer: &Printer) -> Result<u8, Failure> {
    let submission = submission(args.job, JobSpec::default().max_attempts)?;
    // A data folder is made for a job that can be accepted only.
    api::check(&submission).map_err(problem)?;
    let runs = site.runs().await?;
    let submitted = submit(site.api_to_change(true).await?.as_ref(), submission).await.map_err(problem)?;
    if printer.is_json() {
        printer.json(&submitted)?;
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

/// Accepts one job.
pub(crate) async fn submit(api: &dyn Api, submission: Submission) -> Result<Submitted, Problem> {
    let items = api.submit(vec![submission]).await?;
    let one = items.into_iter().next();
    one.map_or_else(
        || Err(Problem::new(api::v1::Code::Damaged, "there was no answer for the job")),
        |item| item.into_result(),
    )
}
