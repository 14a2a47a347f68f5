//! The local socket on which a program's `remora attempt` asks its worker.

use std::convert::Infallible;
use std::sync::Arc;

use protocol::UserProgress;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

use super::client::{SOCKET, through_descriptor};
use super::{Info, Request, Response, StopReason, current_state};
use crate::attempt::describe;
use crate::control::{CheckpointError, Stop};
use crate::handler::Run;
use crate::stage::StageError;

const REQUEST_BYTES: u64 = 64 * 1024;
const CONNECTIONS: usize = 64;

pub(super) fn listen(run: Arc<Run>) -> Result<UnixListener, StageError> {
    let folder = &run.folder.root;
    through_descriptor(folder, |short| UnixListener::bind(short.join(SOCKET)))
        .map_err(|error| StageError::local(format!("listen in {}", folder.display()), error))
}

pub(super) async fn serve(listener: UnixListener, run: Arc<Run>) -> Infallible {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let spawner = Arc::clone(&run.control.session.runtime.spawner);
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { std::future::pending().await };
        match listener.accept().await {
            Ok((stream, _)) => {
                let run = Arc::clone(&run);
                spawner.spawn(Box::pin(async move {
                    // A program that hangs up early loses only its own answer.
                    let _ = answer_one(stream, &run).await;
                    drop(place);
                }));
            }
            Err(error) => {
                tracing::debug!(%error, "cannot accept a program's request");
                run.control.session.runtime.clock.sleep(std::time::Duration::from_millis(20)).await;
            }
        }
    }
}

async fn answer_one(stream: UnixStream, run: &Run) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut line = String::new();
    BufReader::new(reader.take(REQUEST_BYTES)).read_line(&mut line).await?;
    let response = match serde_json::from_str(&line) {
        Ok(request) => respond(request, run).await,
        Err(error) => Response::Error { text: format!("cannot read the request: {error}") },
    };
    let mut line = serde_json::to_vec(&response)?;
    line.push(b'\n');
    writer.write_all(&line).await
}

async fn respond(request: Request, run: &Run) -> Response {
    match request {
        Request::Progress(progress) => match run.control.show_progress(progress) {
            Ok(()) => Response::Ok,
            Err(violation) => Response::Error { text: violation.to_string() },
        },
        Request::Checkpoint { progress, message } => match checkpoint(progress, message, run).await {
            Ok(()) => Response::Ok,
            Err(error) => Response::Error { text: describe(&error) },
        },
        Request::Cancelled => {
            let reason = match *run.control.stop().borrow() {
                Stop::None | Stop::TimedOut => None,
                Stop::Drain => Some(StopReason::Drain),
                Stop::Cancel | Stop::LeaseLost => Some(StopReason::Cancel),
            };
            Response::Stop { reason }
        }
        Request::Info => Response::Info(Info {
            job: run.control.job(),
            attempt: run.control.token(),
            attempt_id: run.control.attempt(),
            worker: run.control.session.options.incarnation,
            kind: run.authorized.spec.kind.clone(),
            max_attempts: run.authorized.spec.max_attempts,
            resumed: run.authorized.checkpoint.is_some(),
        }),
    }
}

/// What a checkpoint does not say of progress stays as it was shown last.
async fn checkpoint(
    progress: Option<UserProgress>,
    message: Option<String>,
    run: &Run,
) -> Result<(), CheckpointError> {
    let mut progress = progress.or_else(|| run.control.shown_progress()).unwrap_or_default();
    progress.message = message.or(progress.message);
    let state = current_state(run).await?;
    run.control.checkpoint(progress, state).await
}
