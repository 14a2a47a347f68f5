//! `remora logs JOB [-f]`: the log as the program wrote it, on standard output.

use api::Api;
use futures_util::StreamExt as _;

use super::follow::jobs_attempts;
use super::show::detail;
use crate::access::{Site, problem};
use crate::args::LogsArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, mut args: LogsArgs, printer: &Printer) -> Result<u8, Failure> {
    let api = site.api().await?;
    // Where nobody makes jobs go on there is nothing to wait for.
    args.follow &= site.runs().await?;
    if args.follow && args.attempt.is_none() {
        // Of every attempt, one after another, until the job ends.
        let mut attempts = std::pin::pin!(jobs_attempts(api.as_ref(), args.job).await?);
        while let Some(attempt) = attempts.next().await {
            print(api.as_ref(), &args, Some(attempt?), printer).await?;
        }
        return Ok(code::OK);
    }
    if args.attempt.is_none() && detail(api.as_ref(), args.job).await?.attempts.is_empty() {
        printer.remark("the job has not run yet");
        return Ok(code::OK);
    }
    print(api.as_ref(), &args, args.attempt, printer).await?;
    Ok(code::OK)
}

async fn print(
    api: &dyn Api,
    args: &LogsArgs,
    attempt: Option<u32>,
    printer: &Printer,
) -> Result<(), Failure> {
    let told = |told| {
        let failure = problem(told);
        if failure.code == code::NOT_FOUND {
            return failure.hint(format!("`remora show {}` lists its attempts", args.job));
        }
        failure
    };
    let mut pieces = api.log(args.job, attempt, args.follow).await.map_err(told)?;
    while let Some(piece) = pieces.next().await {
        printer.bytes(&piece.map_err(problem)?)?;
    }
    Ok(())
}
