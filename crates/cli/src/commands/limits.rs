//! `remora limits [set …]`.

use api::v1::PoolChange;

use crate::access::{Site, problem};
use crate::args::{LimitsAction, LimitsArgs};
use crate::failure::{Failure, code};
use crate::parse::{ms, show_ms};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: LimitsArgs, printer: &Printer) -> Result<u8, Failure> {
    let pool = match args.action {
        None => site.api().await?.pool().await,
        Some(LimitsAction::Set { global: None, lease: None }) => {
            return Err(Failure::usage("there is nothing to set")
                .hint("name a limit, as in `remora limits set --global 100`"));
        }
        Some(LimitsAction::Set { global, lease }) => {
            let change = PoolChange { global, lease_ms: lease.map(ms), ..PoolChange::default() };
            site.api_to_change(true).await?.configure(&change).await
        }
    };
    let pool = pool.map_err(problem)?;
    if printer.is_json() {
        printer.json(&pool)?;
    } else {
        let in_use = pool.in_use.map(|used| used.to_string()).unwrap_or_default();
        let rows = vec![
            vec!["global".to_owned(), pool.global.to_string(), in_use],
            vec!["lease".to_owned(), show_ms(pool.lease_ms), String::new()],
        ];
        printer.table(&["limit", "value", "in use"], rows, &[1, 2]);
    }
    Ok(code::OK)
}
