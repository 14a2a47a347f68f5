//! `remora run -- COMMAND`: submit, watch, say where the result is (protocol §7).

use std::time::Duration;

use agents::CleanerOptions;
use durable::{JobFilter, JobView};
use protocol::{JobId, Phase};
use remora::{Client, ClientError, DataFolder};
use server::{LockError, Owner, OwnerError, OwnerOptions};
use target::Target;
use tokio::signal::unix::{SignalKind, signal};

use super::dev::{explain as explain_owner, supervisor};
use super::follow::{follow, report};
use super::submit::explain;
use crate::access::{Site, absolute};
use crate::args::RunArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;
use crate::spec::job_spec;

/// `run` is at a desk: a program that fails thrice will fail again.
const ATTEMPTS: u32 = 3;
const SLOTS: u32 = 2;
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// This process's way to the folder: as its owner, or as a client of its owner.
struct Way {
    client: Client,
    owner: Option<Owner>,
}

pub(crate) async fn run(site: &Site, args: RunArgs, printer: &Printer) -> Result<u8, Failure> {
    let spec = job_spec(args.job, ATTEMPTS)?;
    let target = site.target().await?;
    let mut way = open(site, printer).await?;
    let submitted = way.client.submit(spec).await.map_err(explain)?;
    if submitted.existed {
        printer.remark("the job was there already, under this idempotency key");
    }
    let result = loop {
        match watch(&way, target.as_ref(), submitted.job, printer).await {
            Err(End::Silent) if site.rooms.is_some() => {
                tracing::warn!("the stores give no answer; the job goes on, and they are asked again");
                tokio::time::sleep(ASK_AGAIN).await;
            }
            Err(End::Silent) => {
                printer.remark("the owner of the data folder is gone; going on in its place");
                if let Some(owner) = way.owner.take() {
                    owner.shutdown().await;
                }
                way = open(site, printer).await?;
            }
            Err(End::Left) => {
                printer.remark(if site.rooms.is_some() {
                    "left; the job, or its cancel, goes on"
                } else {
                    "left; what is unfinished, a cancel too, goes on when the data folder has an owner again"
                });
                return leave(way, code::LEFT);
            }
            Err(End::Failure(failure)) => break Err(failure),
            Ok(view) => break Ok(view),
        }
    };
    let code = result.and_then(|view| report(target.as_ref(), &view, printer));
    if let Some(owner) = way.owner {
        owner.shutdown().await;
    }
    code
}

/// Leaves at once: workers notice that their owner is gone, and end.
fn leave(way: Way, code: u8) -> Result<u8, Failure> {
    if let Some(owner) = &way.owner {
        owner.kill_handle()();
    }
    Ok(code)
}

async fn open(site: &Site, printer: &Printer) -> Result<Way, Failure> {
    let folder = DataFolder::new(absolute(&site.dir)?);
    // Between looking for an owner and taking the lock somebody else may take it: then look again.
    for _ in 0..50 {
        if let Some(client) = site.connect().await? {
            return Ok(Way { client, owner: None });
        }
        match own(&folder, printer).await {
            Ok(way) => return Ok(way),
            Err(OwnerError::Lock(LockError::Owned { .. })) => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(error) => return Err(explain_owner(error)),
        }
    }
    Err(Failure::new(code::FAILED, format!("the owner of {} does not answer", folder.root().display())))
}

async fn own(folder: &DataFolder, printer: &Printer) -> Result<Way, OwnerError> {
    let program = |source| OwnerError::System { doing: "find this program's own file", source };
    let workers = supervisor(1, SLOTS).map_err(|failure| program(std::io::Error::other(failure.error)))?;
    let owner = Owner::start(OwnerOptions {
        folder: folder.clone(),
        lease: None,
        workers,
        events: true,
        cleaner: CleanerOptions::default(),
    })
    .await?;
    let client = Client::connect(folder.root(), "run").await;
    let client = client.map_err(|error| OwnerError::System {
        doing: "reach the owner that this process is",
        source: std::io::Error::other(error),
    })?;
    let phases = vec![Phase::Queued, Phase::Running, Phase::RetryWait, Phase::Cancelling];
    let filter = JobFilter { phases, limit: 1, ..JobFilter::default() };
    if client.durable().list(&filter).await.is_ok_and(|page| !page.jobs.is_empty()) {
        printer.remark("unfinished jobs of this data folder go on beside this one");
    }
    Ok(Way { client, owner: Some(owner) })
}

enum End {
    /// The owner is gone, or the stores give no answer.
    Silent,
    Left,
    Failure(Failure),
}

/// Watches to the end. The first Ctrl-C asks for cancel, the second leaves.
async fn watch(way: &Way, target: &dyn Target, job: JobId, printer: &Printer) -> Result<JobView, End> {
    let following = follow(&way.client, target, job, printer);
    let gone = async {
        if way.owner.is_some() {
            return std::future::pending().await;
        }
        way.client.closed().await;
    };
    let interrupted = async {
        // One listener for both: a second Ctrl-C while the first is carried out must not be missed.
        let Ok(mut interrupts) = signal(SignalKind::interrupt()) else {
            return std::future::pending().await;
        };
        for round in 0..2 {
            if interrupts.recv().await.is_none() {
                return std::future::pending().await;
            }
            if round == 0 {
                printer.remark("asking for cancel (Ctrl-C again leaves)");
                if let Err(error) = way.client.cancel(job).await {
                    printer.remark(&format!("cannot cancel: {error}"));
                }
            }
        }
    };
    tokio::select! {
        ended = following => ended.map_err(|error| match error {
            ClientError::Fault(_) if way.owner.is_none() => End::Silent,
            error => End::Failure(error.into()),
        }),
        () = gone => Err(End::Silent),
        () = interrupted => Err(End::Left),
    }
}
