//! `remora limits [set …]`.

use durable::{Configure, Durable, PoolRow};
#[cfg(feature = "embedded")]
use remora::DataFolder;
use runtime::{Caller, Runtime};
use serde_json::json;

use crate::access::Site;
use crate::args::{LimitsAction, LimitsArgs};
use crate::failure::{Failure, code};
use crate::parse::{ms, show_ms};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: LimitsArgs, printer: &Printer) -> Result<u8, Failure> {
    let readers;
    let pool = match args.action {
        None => {
            readers = site.readers().await?;
            readers.reads().pool().await?
        }
        Some(LimitsAction::Set { global: None, lease: None }) => {
            return Err(Failure::usage("there is nothing to set")
                .hint("name a limit, as in `remora limits set --global 100`"));
        }
        Some(LimitsAction::Set { global, lease }) => {
            let change = Configure { global_limit: global, lease_ms: lease.map(ms), ..Configure::default() };
            configure(site, &change).await?
        }
    };
    let used = match site.connect().await? {
        Some(client) => Some(client.coordination().pool().await?),
        None => None,
    };
    let in_use = used.map(|state| state.leases + state.reservations + state.unaccounted);
    if printer.is_json() {
        printer.json(&json!({
            "global": pool.global_limit,
            "in_use": in_use,
            "lease_ms": pool.lease_ms,
            "epoch": pool.epoch,
        }))?;
    } else {
        let rows = vec![
            vec![
                "global".to_owned(),
                pool.global_limit.to_string(),
                in_use.map(|used| used.to_string()).unwrap_or_default(),
            ],
            vec!["lease".to_owned(), show_ms(pool.lease_ms), String::new()],
        ];
        printer.table(&["limit", "value", "in use"], rows, &[1, 2]);
    }
    Ok(code::OK)
}

/// Changes the pool's configuration, through the owner or without one.
pub(crate) async fn configure(site: &Site, change: &Configure) -> Result<PoolRow, Failure> {
    match site.connect().await? {
        Some(client) => Ok(client.configure(change).await?),
        #[cfg(feature = "embedded")]
        None => {
            let caller = Caller::new(Runtime::system().new_actor_id());
            let room = server::OfflineWrite::open(&DataFolder::new(&site.dir))?.room;
            Ok(room.configure(&caller.send().origin, change).await?)
        }
        #[cfg(not(feature = "embedded"))]
        None => Ok(site.client().await?.configure(change).await?),
    }
}
