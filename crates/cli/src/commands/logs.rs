//! `remora logs JOB [-f]`: the log as the program wrote it, on standard output.

use std::time::Duration;

use target::StageId;

use super::follow::LogFollower;
use super::show::job_view;
use crate::access::{Readers, Site};
use crate::args::LogsArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;

const LOOK: Duration = Duration::from_millis(200);

pub(crate) async fn run(site: &Site, args: LogsArgs, printer: &Printer) -> Result<u8, Failure> {
    let readers = site.readers().await?;
    let target = site.target().await?;
    let mut view = job_view(&readers, args.job).await?;
    if args.follow && args.attempt.is_none() {
        let mut log = LogFollower::new(target.as_ref(), args.job);
        loop {
            printer.bytes(&log.read(&view.attempts).await)?;
            if view.summary.phase.is_terminal() || readers.client().is_none() {
                return Ok(code::OK);
            }
            tokio::time::sleep(LOOK).await;
            view = job_view(&readers, args.job).await?;
        }
    }
    let wanted = args.attempt.or_else(|| view.attempts.last().map(|attempt| attempt.token.0));
    let Some(wanted) = wanted else {
        printer.remark("the job has not run yet");
        return Ok(code::OK);
    };
    let Some(attempt) = view.attempts.iter().find(|attempt| attempt.token.0 == wanted) else {
        return Err(Failure::new(code::NOT_FOUND, format!("{} has no attempt {wanted}", args.job))
            .hint(format!("it has had {}; `remora show {}` lists them", view.attempts.len(), args.job)));
    };
    let stage = StageId { job: args.job, token: attempt.token, attempt: attempt.attempt };
    let ended = attempt.verdict.is_some() || !args.follow || readers.client().is_none();
    let mut reader = target.read_log(&stage);
    if ended {
        printer.bytes(&reader.read_more().await?)?;
    } else {
        follow_attempt(&readers, &args, reader.as_mut(), printer).await?;
    }
    Ok(code::OK)
}

async fn follow_attempt(
    readers: &Readers,
    args: &LogsArgs,
    reader: &mut dyn target::LogReader,
    printer: &Printer,
) -> Result<(), Failure> {
    loop {
        let view = job_view(readers, args.job).await?;
        let runs = view
            .attempts
            .iter()
            .any(|attempt| Some(attempt.token.0) == args.attempt && attempt.verdict.is_none());
        printer.bytes(&reader.read_more().await?)?;
        if !runs {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
}
