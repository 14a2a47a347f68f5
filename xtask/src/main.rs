//! Chores of the house: `cargo xtask spec`, `cargo xtask where NAME`, `cargo xtask model NAME`.

mod locate;
mod model;
mod spec;

use anyhow::bail;

fn main() -> anyhow::Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    if args.is_empty() {
        bail!("name a chore: spec, where, model");
    }
    let chore = args.remove(0);
    match chore.as_str() {
        "spec" => spec::run(args),
        "where" => locate::run(args),
        "model" => model::run(args),
        other => bail!("`{other}` is no chore; one of spec, where, model"),
    }
}
