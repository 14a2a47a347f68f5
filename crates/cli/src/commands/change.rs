//! Changes of jobs one by one: each harms and helps only itself, the worst exit code counts.

use api::v1::Item;
use serde::Serialize;

use crate::access::problem;
use crate::failure::{Failure, code};
use crate::printer::Printer;

/// Says what came of each.
pub(crate) fn each<T: Serialize>(
    items: Vec<Item<T>>,
    describe: impl Fn(&T) -> String,
    printer: &Printer,
) -> Result<u8, Failure> {
    let mut worst = code::OK;
    for item in items {
        match item.into_result() {
            Ok(done) if printer.is_json() => printer.json(&done)?,
            Ok(done) => printer.line(&describe(&done)),
            Err(told) => {
                let failure = problem(told);
                printer.failure(&failure);
                worst = worst.max(failure.code);
            }
        }
    }
    Ok(worst)
}
