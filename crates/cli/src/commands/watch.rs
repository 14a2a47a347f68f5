//! `remora watch JOB`: follows a job that somebody submitted to its end.

use protocol::JobId;

use super::follow::{follow, report};
use super::show::job_view;
use crate::access::Site;
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, job: JobId, printer: &Printer) -> Result<u8, Failure> {
    let readers = site.readers().await?;
    let target = site.target().await?;
    let seen = job_view(&readers, job).await?;
    let view = if seen.summary.phase.is_terminal() {
        seen
    } else {
        let Some(client) = readers.client() else {
            return Err(Failure::new(
                code::FAILED,
                format!("nobody runs {job}: its data folder has no owner"),
            )
            .hint("start `remora dev`"));
        };
        tokio::select! {
            view = follow(client, target.as_ref(), job, printer) => view?,
            _ = tokio::signal::ctrl_c() => {
                printer.remark("left; the job goes on");
                return Ok(code::LEFT);
            }
        }
    };
    report(target.as_ref(), &view, printer)
}
