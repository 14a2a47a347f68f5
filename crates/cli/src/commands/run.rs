//! `remora run -- COMMAND`: submit, watch, say where the result is (protocol §7).

use std::sync::Arc;
use std::time::Duration;

use agents::CleanerOptions;
use api::v1::{Code, JobDetail};
use api::{Answer, Api};
use durable::JobFilter;
use protocol::{JobId, Phase};
use remora::{Client, DataFolder};
use server::{LockError, Owner, OwnerError, OwnerOptions};
use tokio::signal::unix::{SignalKind, signal};

use super::dev::{explain as explain_owner, supervisor};
use super::follow::{follow, report};
use super::submit::submit;
use crate::access::{Site, absolute, problem};
use crate::args::RunArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;
use crate::spec::submission;

/// `run` is at a desk: a program that fails thrice will fail again.
const ATTEMPTS: u32 = 3;
const SLOTS: u32 = 2;
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// This process's way to the rooms: as a data folder's owner, as a client of its owner or of the rooms, or by a server.
struct Way {
    api: Arc<dyn Api>,
    client: Option<Client>,
    owner: Option<Owner>,
}

pub(crate) async fn run(site: &Site, args: RunArgs, printer: &Printer) -> Result<u8, Failure> {
    let submission = submission(args.job, ATTEMPTS)?;
    // A data folder is made for a job that can be accepted only.
    api::check(&submission).map_err(problem)?;
    let mut way = open(site, printer).await?;
    let submitted = submit(way.api.as_ref(), submission).await.map_err(problem)?;
    // Rooms and servers go on by themselves; a data folder needs an owner.
    let is_away = site.rooms.is_some() || site.is_remote();
    if submitted.existed {
        printer.remark("the job was there already, under this idempotency key");
    }
    let result = loop {
        match watch(&way, submitted.job, printer).await {
            Err(End::Silent) if is_away => {
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
                printer.remark(if is_away {
                    "left; the job, or its cancel, goes on"
                } else {
                    "left; what is unfinished, a cancel too, goes on when the data folder has an owner again"
                });
                return leave(way, code::LEFT);
            }
            Err(End::Failure(failure)) => break Err(failure),
            Ok(ended) => break Ok(ended),
        }
    };
    let code = result.and_then(|ended| report(&ended, site.is_remote(), printer));
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
    if site.is_remote() {
        return Ok(Way { api: site.api().await?, client: None, owner: None });
    }
    let folder = DataFolder::new(absolute(&site.dir)?);
    // Between looking for an owner and taking the lock somebody else may take it: then look again.
    for _ in 0..50 {
        if let Some(client) = site.connect().await? {
            return Ok(Way { api: site.direct(&client).await?, client: Some(client), owner: None });
        }
        match own(&folder, printer).await {
            Ok((client, owner)) => {
                return Ok(Way {
                    api: site.direct(&client).await?,
                    client: Some(client),
                    owner: Some(owner),
                });
            }
            Err(OwnerError::Lock(LockError::Owned { .. })) => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(error) => return Err(explain_owner(error)),
        }
    }
    Err(Failure::new(code::FAILED, format!("the owner of {} does not answer", folder.root().display())))
}

async fn own(folder: &DataFolder, printer: &Printer) -> Result<(Client, Owner), OwnerError> {
    let program = |source| OwnerError::System { doing: "find this program's own file", source };
    let workers = supervisor(1, SLOTS).map_err(|failure| program(std::io::Error::other(failure.error)))?;
    let owner = Owner::start(OwnerOptions {
        folder: folder.clone(),
        lease: None,
        workers,
        events: true,
        scraped: false,
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
    Ok((client, owner))
}

enum End {
    /// The owner is gone, or the stores give no answer.
    Silent,
    Left,
    Failure(Failure),
}

/// Watches to the end. The first Ctrl-C asks for cancel, the second leaves.
async fn watch(way: &Way, job: JobId, printer: &Printer) -> Result<JobDetail, End> {
    let following = follow(way.api.as_ref(), job, printer);
    let gone = async {
        match &way.client {
            Some(client) if way.owner.is_none() => client.closed().await,
            _ => std::future::pending().await,
        }
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
                if let Err(told) = cancel(way.api.as_ref(), job).await {
                    printer.remark(&format!("cannot cancel: {told}"));
                }
            }
        }
    };
    tokio::select! {
        ended = following => ended.map_err(|told| match told.code {
            Code::Unavailable | Code::Ambiguous if way.owner.is_none() => End::Silent,
            _ => End::Failure(problem(told)),
        }),
        () = gone => Err(End::Silent),
        () = interrupted => Err(End::Left),
    }
}

async fn cancel(api: &dyn Api, job: JobId) -> Answer<()> {
    let items = api.cancel(&[job]).await?;
    items.into_iter().try_for_each(|item| item.into_result().map(drop))
}
