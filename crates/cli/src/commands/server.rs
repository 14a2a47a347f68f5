//! `remora server`: keeps the rooms of an installation in order.

use std::sync::Arc;
use std::time::Duration;

use remora::DataFolder;
use server::{Listen, Replica, ReplicaError, ReplicaOptions, RoomsExamined, SupervisorOptions};
use tokio::signal::unix::{SignalKind, signal};

use crate::access::{Site, absolute, explain};
use crate::args::ServerArgs;
use crate::failure::{Failure, code};
use crate::parse::show_ms;
use crate::printer::Printer;

/// Notice, SIGTERM and SIGKILL of a drain take 35 s; the rest is for sealing what was done.
const DRAIN_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn run(site: Site, args: &ServerArgs, printer: &Printer) -> Result<u8, Failure> {
    let dir = absolute(&site.dir)?;
    let Some(rooms) = site.rooms else {
        return Err(Failure::usage(
            "`server` keeps the rooms of an installation: --durable, --coordination and --target name them",
        )
        .hint("for a data folder use `remora dev`"));
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(async {
        let shown = rooms.to_string();
        // An address that cannot be had is told before anything is begun.
        let http = match args.http.listen {
            Listen::None => None,
            Listen::At(address) => Some(server::listen(address, false).await?),
        };
        let examine = Arc::new(RoomsExamined(rooms.clone()));
        let replica = Replica::start(ReplicaOptions {
            rooms,
            lease: args.lease,
            folder: DataFolder::new(dir),
            workers: supervisor(args)?,
            events: !args.no_events,
            scraped: args.http.listen != Listen::None,
        })
        .await
        .map_err(|error| match error {
            ReplicaError::Rooms(error) => explain(error),
            other => other.into(),
        })?;
        let http = match http {
            None => None,
            Some(http) => Some(http.serve(replica.rooms(), Some(examine), args.http.options()).await?),
        };
        printer.remark(&format!(
            "remora {} keeps {shown}; a lease lives {}",
            env!("CARGO_PKG_VERSION"),
            show_ms(replica.lease_ms())
        ));
        printer
            .remark("start workers anywhere with the same three: remora worker --slots 4   (Ctrl-C stops)");
        if let Some(http) = &http {
            if cfg!(feature = "ui") {
                printer.remark(&format!("pages for a browser are at {}/", http.url()));
            }
            printer.remark(&format!("the API is at {}", http.url()));
        }
        until_told(&replica).await?;
        if let Some(http) = http {
            http.shutdown().await;
        }
        replica.shutdown().await;
        printer.remark("stopped; other servers go on, and workers keep what they run");
        Ok(code::OK)
    });
    runtime.shutdown_background();
    result
}

/// The words that every worker kept here is started with.
fn supervisor(args: &ServerArgs) -> Result<SupervisorOptions, Failure> {
    let no_events = args.no_events.then(|| "--no-events".into());
    let words = no_events.into_iter().chain(args.log.words()).collect();
    let (workers, slots) = (args.workers, args.slots);
    let program = std::env::current_exe()?;
    Ok(SupervisorOptions { program, workers, slots, words, rooms: None, drain_limit: DRAIN_LIMIT })
}

/// Waits for SIGINT or SIGTERM; a second one kills the workers kept here.
async fn until_told(replica: &Replica) -> Result<(), Failure> {
    let mut term = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
    let kill = replica.kill_handle();
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        kill();
    });
    Ok(())
}
