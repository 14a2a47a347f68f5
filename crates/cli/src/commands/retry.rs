//! `remora retry JOB…`.

use api::v1::{Item, Retried, RetriedAs};
use protocol::JobId;

use super::change::each;
use crate::access::{Site, problem};
use crate::failure::Failure;
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, jobs: Vec<JobId>, printer: &Printer) -> Result<u8, Failure> {
    let api = site.api_to_change(false).await?;
    let items = api.retry(&jobs).await.map_err(problem)?;
    let any = items.iter().any(|item| matches!(item, Item::Done(_)));
    let code = each(items, describe, printer)?;
    if any && !site.runs().await? {
        printer.hint("nothing runs it yet; start `remora dev`");
    }
    Ok(code)
}

/// What a retry came to.
fn describe(done: &Retried) -> String {
    match done.retried {
        RetriedAs::DueNow => format!("{} is queued now", done.job),
        RetriedAs::Offered => format!("{} is offered again", done.job),
        RetriedAs::NewJob => format!("{} is a new job, a retry of {}", done.now, done.job),
    }
}
