//! `remora inspect JOB`: what each room holds of it, and the spec's invariants on that. Exit code 1 if one does not hold.

use protocol::JobId;

use super::follow::clean;
use crate::access::{Site, problem};
use crate::failure::{Failure, code};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, job: JobId, printer: &Printer) -> Result<u8, Failure> {
    let inspection = site.api().await?.inspect(job).await.map_err(problem)?;
    let broken = inspection.checks.iter().any(|check| check.holds == Some(false));
    if printer.is_json() {
        printer.json(&inspection)?;
    } else {
        let rooms = [
            ("durable", Some(&inspection.durable)),
            ("coordination", inspection.coordination.as_ref()),
            ("target", inspection.target.as_ref()),
        ];
        for (room, held) in rooms {
            printer.line(&printer.paint(room, "1"));
            let text = held.map_or(Ok("gives no answer".to_owned()), serde_json::to_string_pretty)?;
            for line in text.lines() {
                printer.line(&format!("  {}", clean(line)));
            }
        }
        for check in &inspection.checks {
            let (word, colour) = match check.holds {
                Some(true) => ("ok", "32"),
                Some(false) => ("bad", "31;1"),
                None => ("?", "33"),
            };
            let word = printer.paint(&format!("{word:<5}"), colour);
            printer.line(&format!("{word} {:<32} {}", check.name, clean(&check.text)));
        }
    }
    Ok(if broken { code::FAILED } else { code::OK })
}
