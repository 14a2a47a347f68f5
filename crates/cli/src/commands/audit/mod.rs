//! `remora audit`: is every recorded step one of the spec's?

mod files;
mod show;

use std::path::{Path, PathBuf};

use model::audit::{Audit, Census, Report};
use protocol::JobId;

use crate::args::AuditArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;
use files::Files;

/// What reading came to, beside the events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Gaps {
    /// Last lines that their writer did not finish.
    pub(crate) cut_lines: u64,
    /// Writers whose first files are gone.
    pub(crate) rotated: u64,
}

pub(crate) fn run(dir: &Path, args: AuditArgs, printer: &Printer) -> Result<u8, Failure> {
    let folders = if args.folders.is_empty() { vec![dir.to_owned()] } else { args.folders };
    let (report, gaps) =
        audit(&folders, args.job).map_err(|error| Failure { error, hint: None, code: code::FAILED })?;
    if report.events == 0 {
        let which = args.job.map(|job| format!(" of {job}")).unwrap_or_default();
        return Err(Failure::usage(format!("there are no events{which} in {}", names(&folders))));
    }
    if printer.is_json() {
        printer.json(&show::json(&report, gaps))?;
    } else {
        show::table(&report, gaps, printer);
    }
    Ok(if report.failures.is_empty() { code::OK } else { code::FAILED })
}

fn names(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Reads the trace twice: once to count, once to replay, so that a job is forgotten at its last event.
pub(crate) fn audit(folders: &[PathBuf], job: Option<JobId>) -> anyhow::Result<(Report, Gaps)> {
    let files = Files::find(folders)?;
    let wanted = |of: Option<JobId>| job.is_none() || of == job;
    let mut gaps = Gaps { rotated: files.rotated(), ..Gaps::default() };
    let mut census = Census::default();
    let ends = files.each(|head: model::audit::Head, source| {
        if wanted(head.job) || head.job.is_none() {
            census.count(&head, source);
        }
    })?;
    ends.cut.iter().for_each(|pool| census.cut(*pool));
    gaps.cut_lines = ends.cut_lines;
    let mut audit = Audit::new(census);
    if job.is_some() {
        audit = audit.without_permits();
    }
    files.each(|event: protocol::Event, source| {
        if wanted(event.job) {
            audit.take(event, source);
        }
    })?;
    Ok((audit.finish(), gaps))
}
