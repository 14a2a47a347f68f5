//! `remora watch JOB`: follows a job that somebody submitted to its end.

use protocol::JobId;

use super::follow::{follow, report};
use super::show::detail;
use crate::access::{Site, problem};
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, job: JobId, printer: &Printer) -> Result<u8, Failure> {
    let api = site.api().await?;
    let seen = detail(api.as_ref(), job).await?;
    let ended = if seen.job.phase.is_terminal() {
        seen
    } else {
        if !site.runs().await? {
            let text = format!("nobody runs {job}: its data folder has no owner");
            return Err(Failure::new(code::FAILED, text).hint("start `remora dev`"));
        }
        tokio::select! {
            ended = follow(api.as_ref(), job, printer) => ended.map_err(problem)?,
            _ = tokio::signal::ctrl_c() => {
                printer.remark("left; the job goes on");
                return Ok(code::LEFT);
            }
        }
    };
    report(&ended, site.is_remote(), printer)
}
