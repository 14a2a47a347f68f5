//! `remora server`: keeps the rooms of an installation in order.

use server::{Replica, ReplicaOptions};
use tokio::signal::unix::{SignalKind, signal};

use crate::access::{Site, absolute};
use crate::args::ServerArgs;
use crate::failure::{Failure, code};
use crate::printer::Printer;

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
        let shown = format!("{rooms:?}");
        let events = (!args.no_events).then(|| remora::DataFolder::new(&dir).events());
        let replica = Replica::start(ReplicaOptions { rooms, lease: args.lease, events }).await?;
        printer.remark(&format!("remora {} keeps {shown}", env!("CARGO_PKG_VERSION")));
        printer
            .remark("start workers anywhere with the same three: remora worker --slots 4   (Ctrl-C stops)");
        until_told().await?;
        replica.shutdown().await;
        printer.remark("stopped; other servers go on, and workers keep what they run");
        Ok(code::OK)
    });
    runtime.shutdown_background();
    result
}

async fn until_told() -> Result<(), Failure> {
    let mut term = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
