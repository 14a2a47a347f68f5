//! `remora dev`: owns the data folder until told to stop.

use std::path::Path;
use std::time::Duration;

use agents::CleanerOptions;
use remora::{DataFolder, TargetError};
use server::{
    HttpHandle, Listen, LockError, Owner, OwnerError, OwnerOptions, OwnerRequest, SupervisorOptions,
};
use tokio::signal::unix::{SignalKind, signal};

use crate::access::{Site, absolute};
use crate::args::{DevAction, DevArgs, HttpArgs};
use crate::failure::{Failure, code};
use crate::printer::Printer;

/// Notice, SIGTERM and SIGKILL of a drain take 35 s; the rest is for sealing what was done.
pub(crate) const DRAIN_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn run(site: &Site, args: DevArgs, printer: &Printer) -> Result<u8, Failure> {
    if let Some(DevAction::LoseCoordination) = args.action {
        return super::run_async(lose_coordination(site, printer));
    }
    let dir = site.folder_only("dev")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(serve(dir, args, printer));
    runtime.shutdown_background();
    result
}

/// The words that every worker of this owner is started with.
pub(crate) fn supervisor(workers: u32, slots: u32) -> Result<SupervisorOptions, Failure> {
    Ok(SupervisorOptions {
        program: std::env::current_exe()?,
        workers,
        slots,
        words: Vec::new(),
        rooms: None,
        drain_limit: DRAIN_LIMIT,
    })
}

/// An owner's error in the words of the person who starts it.
pub(crate) fn explain(error: OwnerError) -> Failure {
    let hint = match &error {
        OwnerError::Lock(LockError::Owned { .. }) => {
            Some("use it as it is with the other commands, or name another folder with --dir".to_owned())
        }
        OwnerError::Target { folder, source: TargetError::Other { publishes, .. } } => Some(format!(
            "put the target folder back that was there; if it is lost for good, write {publishes} into {}",
            folder.join(target::marker::KEY).display()
        )),
        _ => None,
    };
    let failure = Failure::from(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

async fn serve(dir: &Path, args: DevArgs, printer: &Printer) -> Result<u8, Failure> {
    let folder = DataFolder::new(absolute(dir)?);
    let mut workers = supervisor(args.workers, args.slots)?;
    if !args.kinds.is_empty() {
        workers.words.extend(["--kinds".into(), args.kinds.join(",").into()]);
    }
    if let Some(notice) = args.drain_notice {
        workers.words.extend(["--drain-notice".into(), format!("{}ms", notice.as_millis()).into()]);
    }
    if args.no_events {
        workers.words.push("--no-events".into());
    }
    workers.words.extend(args.log.words());
    let options = OwnerOptions {
        folder: folder.clone(),
        lease: args.lease,
        workers,
        events: !args.no_events,
        scraped: args.http.listen != Listen::None,
        cleaner: CleanerOptions::default(),
    };
    let owner = Owner::start(options).await.map_err(explain)?;
    let http = match api(&owner, &args.http, printer).await {
        Ok(http) => http,
        Err(failure) => {
            owner.shutdown().await;
            return Err(failure);
        }
    };
    printer.remark(&format!(
        "remora {} owns {} with {} of {}",
        env!("CARGO_PKG_VERSION"),
        folder.root().display(),
        plural(args.workers, "worker"),
        plural(args.slots, "slot"),
    ));
    printer.remark("submit jobs from another terminal: remora submit -- ./export.sh   (Ctrl-C stops)");
    if let Some(http) = &http {
        if cfg!(feature = "ui") {
            printer.remark(&format!("pages for a browser are at {}/", http.url()));
        }
        printer.remark(&format!("the API is at {}", http.url()));
    }
    until_told(&owner, printer).await?;
    if let Some(http) = http {
        http.shutdown().await;
    }
    owner.shutdown().await;
    printer.remark("stopped; unfinished jobs go on at the next start");
    Ok(code::OK)
}

/// Serves the API, unless it is not wanted. A port that is in use is no reason not to work.
async fn api(owner: &Owner, args: &HttpArgs, printer: &Printer) -> Result<Option<HttpHandle>, Failure> {
    let Listen::At(address) = args.listen else { return Ok(None) };
    let http = server::listen(address, true).await?;
    if let Some(taken) = http.in_use {
        printer.remark(&format!("port {} is in use by somebody else; another one is taken", taken.port()));
    }
    Ok(Some(http.serve(owner.rooms(), None, args.options()).await?))
}

fn plural(count: u32, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
}

/// Waits for SIGINT or SIGTERM; a second one kills the workers.
async fn until_told(owner: &Owner, printer: &Printer) -> Result<(), Failure> {
    let mut term = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
    printer.remark("draining: running jobs have 30 s to checkpoint and end (Ctrl-C again ends them now)");
    let kill = owner.kill_handle();
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        kill();
    });
    Ok(())
}

async fn lose_coordination(site: &Site, printer: &Printer) -> Result<u8, Failure> {
    match &site.rooms {
        // Not through the rooms as a client has them: the pool may be another installation's.
        Some(rooms) => rooms.lose_coordination().await.map_err(crate::access::explain)?,
        None => {
            let client = site.client().await?;
            client.ask_owner(&serde_json::to_string(&OwnerRequest::LoseCoordination)?).await?;
        }
    }
    printer.remark("coordination is lost; queue, permits and leases are being rebuilt");
    Ok(code::OK)
}
