//! `remora migrate up|down|status|--sql`: the schema of the durable store in PostgreSQL.

use durable::postgres::migrate::{self, Setup, Status};
use durable::postgres::{Address, OpenError};
use serde_json::json;

use crate::args::{MigrateAction, MigrateArgs};
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(
    durable: Option<String>,
    args: MigrateArgs,
    printer: &Printer,
) -> Result<u8, Failure> {
    let setup = Setup { pool: args.pool, ..Setup::default() };
    match (args.sql, args.action) {
        (true, _) => {
            let schema = match &durable {
                Some(url) => url.parse::<Address>()?.schema,
                None => "remora".to_owned(),
            };
            printer.line(migrate::sql(&schema, &setup).trim_end());
            Ok(code::OK)
        }
        (false, Some(action)) => act(action, durable.as_deref(), &setup, printer).await,
        (false, None) => {
            Err(Failure::usage("there is nothing to do").hint("name one of up, down, status, or --sql"))
        }
    }
}

async fn act(
    action: MigrateAction,
    url: Option<&str>,
    setup: &Setup,
    printer: &Printer,
) -> Result<u8, Failure> {
    let url = url.ok_or_else(|| {
        Failure::usage("which durable store is meant is not said")
            .hint("name it with --durable postgres://…, or in REMORA_DURABLE or DATABASE_URL")
    })?;
    let status = match action {
        MigrateAction::Up => migrate::up(url, setup).await,
        MigrateAction::Status => migrate::status(url).await,
        MigrateAction::Down { yes: false } => {
            return Err(Failure::usage("`migrate down` removes the schema with all jobs and results in it")
                .hint("say --yes if that is meant"));
        }
        MigrateAction::Down { yes: true } => migrate::down(url).await,
    };
    let status = status.map_err(refused)?;
    show(&status, printer)?;
    // A script that asks before it starts something learns that it would not start.
    let is_behind = matches!(action, MigrateAction::Status) && status.found < status.known;
    Ok(if is_behind { code::FAILED } else { code::OK })
}

/// A wrong URL is wrong usage.
fn refused(error: OpenError) -> Failure {
    let wrong = matches!(error, OpenError::Address(_) | OpenError::BadOption { .. });
    let failure = Failure::from(error);
    if wrong { failure.with_code(code::USAGE) } else { failure }
}

fn show(status: &Status, printer: &Printer) -> Result<(), Failure> {
    let Status { place, found, known, applied } = status;
    if printer.is_json() {
        return printer.json(&json!({"place": place, "version": found, "known": known, "applied": applied}));
    }
    applied.iter().for_each(|name| printer.line(&format!("applied {name}")));
    let state = match found {
        0 => "there is no schema; `remora migrate up` makes it".to_owned(),
        found if found == known => format!("up to date, version {found}"),
        found if found < known => format!("version {found} of {known}: `remora migrate up` brings the rest"),
        found => format!("version {found}, newer than this program, which knows {known}"),
    };
    printer.line(&format!("{place}: {state}"));
    Ok(())
}
