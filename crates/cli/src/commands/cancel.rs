//! `remora cancel JOB…`.

use api::v1::Cancelled;
use protocol::{JobId, Phase};

use super::change::each;
use crate::access::{Site, problem};
use crate::failure::Failure;
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, jobs: Vec<JobId>, printer: &Printer) -> Result<u8, Failure> {
    let api = site.api_to_change(false).await?;
    let items = api.cancel(&jobs).await.map_err(problem)?;
    each(items, describe, printer)
}

/// What a cancel came to.
fn describe(done: &Cancelled) -> String {
    match done.phase {
        Phase::Cancelling => format!("{} is cancelling: nothing of it will be published", done.job),
        _ => format!("{} is cancelled", done.job),
    }
}
