//! `remora worker`, and the same for a worker that its owner has started.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use remora::{RoomUrls, WorkerProcess, WorkerProcessError};

use super::builtin;
use crate::access::{Site, absolute, explain};
use crate::args::WorkerArgs;
use crate::failure::{Failure, code};

#[derive(Debug, Parser)]
struct OwnedArgs {
    #[arg(long)]
    dir: PathBuf,
    /// What to say of what happens inside.
    #[arg(long = "log", default_value = "warn")]
    log_level: String,
    /// Take the rooms from the environment.
    #[arg(long)]
    rooms: bool,
    #[command(flatten)]
    worker: WorkerArgs,
}

/// A worker of the process that started it.
pub(crate) fn owned() -> ExitCode {
    let words = std::env::args_os().enumerate().filter(|(index, _)| *index != 1).map(|(_, word)| word);
    let args = OwnedArgs::parse_from(words);
    crate::logging::start(&args.log_level, args.worker.log.log_format);
    let mut process = process(args.dir, args.worker).owned();
    if args.rooms {
        match RoomUrls::from_variables() {
            Ok(rooms) => process = rooms.into_iter().fold(process, WorkerProcess::on),
            Err(error) => {
                tracing::error!(%error, "the rooms are not named");
                return ExitCode::from(code::USAGE);
            }
        }
    }
    match process.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(WorkerProcessError::OwnerGone) => ExitCode::from(code::FAILED),
        Err(error) => {
            let error = format!("{:#}", anyhow::Error::from(error));
            tracing::error!(error, "the worker has ended");
            ExitCode::from(code::FAILED)
        }
    }
}

fn process(dir: PathBuf, args: WorkerArgs) -> WorkerProcess {
    let mut process = WorkerProcess::new(dir).slots(args.slots).kinds(args.kinds);
    if let Some(name) = args.name {
        process = process.name(name);
    }
    if let Some(queues) = args.queues {
        process = process.queues(queues);
    }
    if let Some(notice) = args.drain_notice {
        process = process.drain_notice(notice);
    }
    if let Some(address) = args.health {
        process = process.health(address);
    }
    if args.no_events {
        process = process.without_events();
    }
    builtin::jobs(process)
}

pub(crate) fn run(site: Site, args: WorkerArgs) -> Result<u8, Failure> {
    let process = match site.rooms {
        Some(rooms) => process(absolute(&site.dir)?, args).on(rooms),
        None => process(site.dir, args),
    };
    match process.run() {
        Ok(()) => Ok(code::OK),
        Err(error @ WorkerProcessError::Connect(_)) => {
            Err(Failure::from(error).hint("start `remora dev` first, or name another folder with --dir"))
        }
        Err(WorkerProcessError::Rooms(error)) => Err(explain(error)),
        Err(error @ WorkerProcessError::LeftAtOnce) => Err(Failure::from(error).with_code(code::LEFT)),
        Err(error) => Err(error.into()),
    }
}
