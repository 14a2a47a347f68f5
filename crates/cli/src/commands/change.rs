//! Changes of jobs one by one: each harms and helps only itself, the worst exit code counts.

use durable::{Durable, RequestCancel, Retried, Retry};
use protocol::{JobId, Phase};
use remora::{Client, ClientError, DataFolder, answer_about};
use runtime::{Caller, Runtime};

use super::{cancel, retry};
use crate::access::Site;
use crate::failure::{Failure, code};
use crate::printer::Printer;

/// Which change.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Cancel,
    Retry,
}

enum Changed {
    Cancelled(Phase),
    Retried(Retried),
}

/// Who makes the change.
enum Maker {
    Client(Client),
    #[cfg(feature = "embedded")]
    Offline(Box<server::OfflineWrite>),
}

pub(crate) async fn each(
    site: &Site,
    jobs: &[JobId],
    change: Change,
    printer: &Printer,
) -> Result<u8, Failure> {
    let maker = match site.connect().await? {
        Some(client) => Maker::Client(client),
        #[cfg(feature = "embedded")]
        None if DataFolder::new(&site.dir).database().is_file() => {
            Maker::Offline(Box::new(server::OfflineWrite::open(&DataFolder::new(&site.dir))?))
        }
        None => {
            return Err(site.client().await.err().unwrap_or_else(|| Failure::new(code::FAILED, "try again")));
        }
    };
    let mut worst = code::OK;
    for job in jobs {
        let changed = match (&maker, change) {
            (Maker::Client(client), Change::Cancel) => {
                client.cancel(*job).await.map(|done| Changed::Cancelled(done.phase))
            }
            (Maker::Client(client), Change::Retry) => client.retry(*job).await.map(Changed::Retried),
            #[cfg(feature = "embedded")]
            (Maker::Offline(write), change) => offline(write, *job, change).await,
        };
        match changed {
            Ok(changed) => say(*job, &changed, printer)?,
            Err(error) => {
                let failure = match change {
                    Change::Cancel => cancel::refusal(*job, error),
                    Change::Retry => retry::refusal(*job, error),
                };
                printer.failure(&failure);
                worst = worst.max(failure.code);
            }
        }
    }
    #[cfg(feature = "embedded")]
    if worst == code::OK && matches!((&maker, change), (Maker::Offline(_), Change::Retry)) {
        printer.hint("nothing runs it yet; start `remora dev`");
    }
    Ok(worst)
}

fn say(job: JobId, changed: &Changed, printer: &Printer) -> Result<(), Failure> {
    let (text, value) = match changed {
        Changed::Cancelled(phase) => cancel::describe(job, *phase),
        Changed::Retried(retried) => retry::describe(job, *retried),
    };
    if printer.is_json() {
        return printer.json(&value);
    }
    printer.line(&text);
    Ok(())
}

#[cfg(feature = "embedded")]
async fn offline(write: &server::OfflineWrite, job: JobId, change: Change) -> Result<Changed, ClientError> {
    let runtime = Runtime::system();
    let sent = Caller::new(runtime.new_actor_id()).send();
    match change {
        Change::Cancel => {
            let answers = write.room.request_cancel(&sent.origin, &[RequestCancel { job }]).await?;
            answer_about(job, answers).map(|done| Changed::Cancelled(done.phase))
        }
        Change::Retry => {
            let request = Retry { job, new_job: runtime.new_job_id() };
            answer_about(job, write.room.retry(&sent.origin, &[request]).await?).map(Changed::Retried)
        }
    }
}
