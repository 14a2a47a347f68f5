//! Chores of the house: `cargo xtask test`, `tidy`, `spec`, `where NAME`, `model NAME`, `sim`, `chaos`, `recovery`,
//! `fuzz-api`.

mod chaos;
mod fuzz_api;
mod locate;
mod model;
mod servers;
mod sim;
mod spec;
mod test;
mod tidy;

use std::io::Write;

use anyhow::bail;

fn main() -> anyhow::Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if args.is_empty() {
        bail!("name a chore: test, tidy, spec, where, model, sim, chaos, recovery, fuzz-api");
    }
    let chore = args.remove(0);
    match chore.as_str() {
        "test" => test::run(&args),
        "tidy" => tidy::run(&args),
        "spec" => spec::run(args),
        "where" => locate::run(args),
        "model" => model::run(args),
        "sim" => sim::run(&args),
        "chaos" | "recovery" => chaos::run(&chore, &args),
        "fuzz-api" => fuzz_api::run(&args),
        other => bail!(
            "`{other}` is no chore; one of test, tidy, spec, where, model, sim, chaos, recovery, fuzz-api"
        ),
    }
}

/// Prints a line.
pub(crate) fn say(text: &str) {
    // Whoever closed the pipe has seen enough.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
