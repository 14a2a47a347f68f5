//! The binary `remora`.
//!
//! Promises: data goes to standard output, all else to standard error; every error is one clear text with a
//! non-zero exit code and, where one helps, a hint. Decides nothing: the rooms, agents and workers do.

mod access;
mod args;
mod commands;
mod failure;
mod logging;
mod parse;
mod printer;
mod spec;

use std::process::ExitCode;

use clap::Parser;

use access::Site;
use args::{Arguments, Verb};
use failure::Failure;
use logging::LogFormat;
use printer::Printer;

fn main() -> ExitCode {
    remora::init();
    #[cfg(any(feature = "embedded", feature = "fleet"))]
    if std::env::args_os().nth(1).is_some_and(|word| word == server::WORKER_WORD) {
        return commands::worker::owned();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors; everything else ends with the code 2.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let format = log_format(&arguments.verb);
    logging::start(log_level(&arguments), format);
    let printer = Printer::new(arguments.output, format);
    match dispatch(arguments, &printer) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            printer.failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

/// What to say of what happens inside: warnings, and more with `-v`. The demo tells its own story.
fn log_level(arguments: &Arguments) -> &'static str {
    match arguments.verbose {
        0 if matches!(arguments.verb, Verb::Demo(_)) => "error",
        0 => "warn",
        1 => "info",
        _ => "debug",
    }
}

/// What keeps running may have its log read by programs.
fn log_format(verb: &Verb) -> LogFormat {
    match verb {
        Verb::Dev(dev) => dev.log.log_format,
        Verb::Server(server) => server.log.log_format,
        Verb::Worker(worker) => worker.log.log_format,
        _ => LogFormat::Text,
    }
}

fn dispatch(arguments: Arguments, printer: &Printer) -> Result<u8, Failure> {
    // These need no rooms, or not all of them.
    match arguments.verb {
        Verb::Attempt(attempt) => return commands::attempt::run(attempt, printer),
        Verb::Audit(audit) => return commands::audit::run(&arguments.dir, audit, printer),
        Verb::Completions(completions) => return commands::completions::run(&completions, printer),
        #[cfg(feature = "fleet")]
        Verb::Migrate(migrate) => {
            let durable = access::durable_url(arguments.durable);
            return commands::run_async(commands::migrate::run(durable, migrate, printer));
        }
        _ => {}
    }
    let site = Site::new(&arguments)?;
    match arguments.verb {
        #[cfg(any(feature = "embedded", feature = "fleet"))]
        Verb::Worker(worker) => commands::worker::run(site, worker),
        #[cfg(feature = "fleet")]
        Verb::Server(server) => commands::server::run(site, &server, printer),
        #[cfg(feature = "embedded")]
        Verb::Dev(dev) => commands::dev::run(&site, dev, printer),
        #[cfg(feature = "embedded")]
        Verb::Demo(demo) => commands::demo::run(&site, demo, printer),
        #[cfg(feature = "embedded")]
        Verb::Bench(bench) => commands::bench::run(&bench, printer),
        verb => commands::run_async(async {
            match verb {
                #[cfg(feature = "embedded")]
                Verb::Run(run) => commands::run::run(&site, run, printer).await,
                Verb::Submit(submit) => commands::submit::run(&site, submit, printer).await,
                Verb::List(list) => commands::list::run(&site, list, printer).await,
                Verb::Show(show) => commands::show::run(&site, show.job, printer).await,
                Verb::Why(why) => commands::why::run(&site, why.job, printer).await,
                Verb::Inspect(inspect) => commands::inspect::run(&site, inspect.job, printer).await,
                Verb::Watch(watch) => commands::watch::run(&site, watch.job, printer).await,
                Verb::Logs(logs) => commands::logs::run(&site, logs, printer).await,
                Verb::Cancel(jobs) => commands::cancel::run(&site, jobs.jobs, printer).await,
                Verb::Retry(jobs) => commands::retry::run(&site, jobs.jobs, printer).await,
                Verb::Result(result) => commands::result::run(&site, result, printer).await,
                Verb::Doctor => commands::doctor::run(&site, printer).await,
                Verb::Workers => commands::workers::run(&site, printer).await,
                Verb::Queues(queues) => commands::queues::run(&site, queues, printer).await,
                #[cfg(any(feature = "embedded", feature = "fleet"))]
                Verb::Token(token) => commands::token::run(&site, token, printer).await,
                Verb::Limits(limits) => commands::limits::run(&site, limits, printer).await,
                other => Err(Failure::usage(format!("{other:?} is not available in this build"))),
            }
        }),
    }
}
