//! `remora watch JOB`: follows a job that somebody submitted to its end.

use std::path::PathBuf;

use protocol::JobId;

use super::follow::{data_folder, follow, report};
use super::show::job_view;
use crate::access::Readers;
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(dir: PathBuf, job: JobId, printer: &Printer) -> Result<u8, Failure> {
    let readers = Readers::open(&dir).await?;
    let folder = data_folder(&dir);
    let seen = job_view(&readers, job).await?;
    let view = if seen.summary.phase.is_terminal() {
        seen
    } else {
        let Some(client) = readers.owner() else {
            return Err(Failure::new(
                code::FAILED,
                format!("nobody runs {job}: its data folder has no owner"),
            )
            .hint("start `remora dev`"));
        };
        tokio::select! {
            view = follow(client, &folder, job, printer) => view?,
            _ = tokio::signal::ctrl_c() => {
                printer.remark("left; the job goes on");
                return Ok(code::LEFT);
            }
        }
    };
    report(&folder, &view, printer)
}
