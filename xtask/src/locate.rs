//! `cargo xtask where NAME`: every place that a name of the spec has, in the spec and in the source.
//!
//! A name is an action's (`AuthorizeAttempt` or `authorize_attempt`), any other definition's of the spec, or a
//! guard's (`attempts_left`), for which the actions that ask it are listed.

use std::io::Write as _;

use anyhow::bail;
use protocol::machine::{Seen, instance::outline};
use protocol::{Action, Guard};

use crate::spec::places::{Places, law_file};
use crate::spec::{read_specs, root};

/// Runs the chore.
///
/// # Errors
/// When the name is known nowhere.
pub(crate) fn run(args: Vec<String>) -> anyhow::Result<()> {
    let [name] = args.as_slice() else { bail!("where takes one name") };
    let action = Action::ALL.into_iter().find(|one| one.name() == name || one.spec_name() == name);
    let name = match action {
        Some(action) => action.spec_name(),
        None => name.as_str(),
    };
    let root = root()?;
    let places = Places::scan(&root)?;
    let mut lines = Vec::new();
    for (module, spec) in read_specs(&root)? {
        let definition = spec.get(name);
        lines.extend(definition.map(|one| format!("spec/{}.tla:{}", module.spec_name(), one.line)));
    }
    lines.extend(places.aliases(name).iter().map(|place| format!("{}:{}", place.path, place.line)));
    if let Some(action) = action {
        let files = places.files_of(action).into_iter();
        lines.extend(files.filter(|file| !places.aliases(name).iter().any(|place| place.path == *file)));
        lines.extend(outline(action).iter().map(|line| {
            let only = line.module.map_or(String::new(), |module| format!(", {} only", module.spec_name()));
            format!("    {:<24} {}{only}", line.guard, seen(line.seen))
        }));
    }
    if let Some(guard) = Guard::from_name(name) {
        let asks = |action: &Action| outline(*action).iter().any(|line| line.guard == guard);
        let asking = Action::ALL.into_iter().filter(asks);
        lines.extend(asking.map(|action| format!("{:<26} {}", action.spec_name(), law_file(action))));
    }
    if lines.is_empty() {
        bail!("`{name}` is no name of the spec, no alias and no guard that an action asks");
    }
    writeln!(std::io::stdout(), "{}", lines.join("\n"))?;
    Ok(())
}

fn seen(seen: Seen) -> &'static str {
    match seen {
        Seen::Here => "its own room holds it",
        Seen::Carried => "the request carries it",
        Seen::Sender => "the sender's own",
        Seen::Elsewhere => "another room holds it",
    }
}
