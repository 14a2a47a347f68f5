//! `remora attempt …`: a program talks to its worker.

use std::path::PathBuf;

use protocol::UserProgress;
use worker::attempt_client::{FOLDER_VARIABLE, ask};
use worker::{Request, Response, StopReason};

use crate::args::{AttemptAction, AttemptArgs};
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) fn run(args: AttemptArgs, printer: &Printer) -> Result<u8, Failure> {
    let Some(folder) = std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from) else {
        return Err(Failure::usage("this is not a running attempt: REMORA_ATTEMPT_DIR is not set")
            .hint("`remora attempt` is for programs started by `remora run` or a worker"));
    };
    let request = match args.action {
        AttemptAction::Progress { progress, message } => {
            Request::Progress(UserProgress { message, ..progress })
        }
        AttemptAction::Checkpoint { progress, message } => Request::Checkpoint { progress, message },
        AttemptAction::Cancelled => Request::Cancelled,
        AttemptAction::Info => Request::Info,
    };
    let response = ask(&folder, &request)
        .map_err(|error| Failure::new(code::FAILED, format!("cannot talk to the worker: {error}")))?;
    match response {
        Response::Ok => Ok(code::OK),
        Response::Stop { reason: Some(StopReason::Cancel) } => Ok(code::OK),
        Response::Stop { reason: Some(StopReason::Drain) } => Ok(code::DRAIN),
        Response::Stop { reason: None } => Ok(code::FAILED),
        Response::Info(info) => {
            if printer.is_json() {
                printer.json(&info)?;
            } else {
                printer.line(&format!("job {}, attempt {} of {}", info.job, info.attempt, info.max_attempts));
            }
            Ok(code::OK)
        }
        Response::Error { text } => Err(Failure::new(code::FAILED, text)),
    }
}
