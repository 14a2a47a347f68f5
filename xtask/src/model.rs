//! `cargo xtask model NAME`, or with bounds: searches every state and prints one line of JSON.
//!
//! `cargo xtask model all` does every named configuration; `--liveness` after a name adds the liveness
//! properties where TLC was not run to their end. A name's counts must equal the published ones. Bounds:
//! `--module remora|two-stores --jobs 1 --workers 2 --initial 1 --max-attempts 2 --max-progress 1
//! --lease-limit 1 --local 1 --global 1 --faults coordination,durable,target --liveness`. A violation's
//! story goes to stderr.

use std::io::Write as _;
use std::process::Command;

use anyhow::{Context as _, bail};
use model::{BOUNDS, Named, check_liveness, explore, story};
use protocol::machine::{Constants, Law, Module, Service};

/// Runs the chore.
///
/// # Errors
/// When arguments mean nothing, or the search finds other than what is expected.
pub(crate) fn run(args: Vec<String>) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        return again_in_release(&args);
    }
    match args.first().map(String::as_str) {
        None => bail!("name bounds ({}), or give them; see xtask/src/model.rs", names()),
        Some("all") => BOUNDS.iter().try_for_each(search),
        Some(first) if first.starts_with("--") => search(&from_flags(args)?),
        Some(name) => {
            let named = Named::find(name);
            let mut named = named.with_context(|| format!("no bounds `{name}`; one of {}", names()))?.clone();
            match &args[1..] {
                [] => {}
                [flag] if flag == "--liveness" => named.liveness = true,
                other => bail!("after a name comes `--liveness` or nothing, not {other:?}"),
            }
            search(&named)
        }
    }
}

/// A search is many times faster in release, and the chore itself is built without.
fn again_in_release(args: &[String]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--release", "-p", "xtask", "--", "model"]).args(args);
    let status = command.status().context("run the release build")?;
    if status.success() { Ok(()) } else { bail!("the search did not find what is expected") }
}

fn names() -> String {
    BOUNDS.iter().map(|bounds| bounds.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn search(bounds: &Named) -> anyhow::Result<()> {
    let explored = explore(&bounds.law, usize::MAX)?;
    let report = &explored.report;
    let mut violated = report.violated.as_ref().map(|found| found.property);
    let mut err = std::io::stderr().lock();
    if let Some(found) = &report.violated {
        writeln!(err, "{}", story::of_violation(found))?;
    } else if bounds.liveness {
        let lasso = check_liveness(&explored);
        if let Some(lasso) = &lasso {
            writeln!(err, "{}", story::of_lasso(&bounds.law, lasso))?;
        }
        violated = lasso.map(|lasso| lasso.property);
    }
    writeln!(
        std::io::stdout(),
        "{{\"name\":\"{}\",\"distinct\":{},\"depth\":{},\"generated\":{},\"liveness\":{},\"violated\":{}}}",
        bounds.name,
        report.distinct,
        report.depth,
        report.generated,
        bounds.liveness,
        violated.map_or("null".to_owned(), |name| format!("\"{name}\"")),
    )?;
    for (what, found, published) in [
        ("distinct", report.distinct, bounds.distinct),
        ("depth", report.depth, bounds.depth),
        ("generated", report.generated, bounds.generated),
    ] {
        if published.is_some_and(|published| published != found) {
            bail!("{}: {what} is {found}, published is {}", bounds.name, published.unwrap_or(0));
        }
    }
    if violated == bounds.violated.as_deref() {
        return Ok(());
    }
    let expected = bounds.violated.as_deref().unwrap_or("nothing");
    bail!("{}: violated is {}, expected is {expected}", bounds.name, violated.unwrap_or("nothing"))
}

fn from_flags(args: Vec<String>) -> anyhow::Result<Named> {
    let mut module = Module::Remora;
    let mut constants = Constants::ONE;
    let mut liveness = false;
    let mut args = args.into_iter();
    while let Some(flag) = args.next() {
        if flag == "--liveness" {
            liveness = true;
            continue;
        }
        let value = args.next().with_context(|| format!("{flag} needs a value"))?;
        let number = || value.parse().with_context(|| format!("{flag} {value} is not a small number"));
        match flag.as_str() {
            "--module" => module = module_of(&value)?,
            "--faults" => constants = faults(constants, &value)?,
            "--jobs" => constants.jobs = number()?,
            "--workers" => constants.workers = number()?,
            "--initial" => constants.initial_workers = number()?,
            "--max-attempts" => constants.max_attempts = number()?,
            "--max-progress" => constants.max_progress = number()?,
            "--lease-limit" => constants.lease_limit = number()?,
            "--local" => constants.local_limit = number()?,
            "--global" => constants.global_limit = number()?,
            other => bail!("no bound `{other}`"),
        }
    }
    let law = Law::of(module, constants.validate()?);
    let name = "bounds".to_owned();
    Ok(Named { name, law, distinct: None, depth: None, generated: None, liveness, violated: None })
}

fn module_of(name: &str) -> anyhow::Result<Module> {
    match name {
        "remora" => Ok(Module::Remora),
        "two-stores" => Ok(Module::TwoStores),
        other => bail!("no module `{other}`; remora or two-stores"),
    }
}

/// `none` turns faults on without cutting a link or losing coordination: workers may still die.
fn faults(constants: Constants, list: &str) -> anyhow::Result<Constants> {
    let mut services = Vec::new();
    for name in list.split(',').filter(|name| *name != "none") {
        let service = Service::ALL.iter().find(|one| one.to_string().eq_ignore_ascii_case(name));
        services
            .push(*service.with_context(|| format!("no service `{name}`; coordination, durable, target"))?);
    }
    Ok(constants.with_faults(&services))
}
