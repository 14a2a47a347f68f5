//! `cargo xtask spec`: one name everywhere.
//!
//! Parses the disjuncts of both `Next`s and demands that each is an [`Action`] and that the law has one file
//! for it, once and with nothing left over. Compares `spec/actions.lock` (a hash of each action's meaning) and
//! names what to read again when the meaning of one has changed. Compares the table in spec/README.md and
//! the bounds that TLC reads. `--write` renews all three.
//! Demands of an adapter in Lua that it has one script for each action of its room, which begins with the spec's name of
//! it. Does not demand a file of other adapters: it lists those it finds.

pub(crate) mod lock;
pub(crate) mod places;
mod table;
pub(crate) mod tla;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use model::BOUNDS;
use protocol::machine::{Constants, Law, Module, Move, instances};
use protocol::{Action, Room};

use places::Places;
use tla::Spec;

/// Runs the chore.
///
/// # Errors
/// When names or files do not agree.
pub(crate) fn run(args: Vec<String>) -> anyhow::Result<()> {
    let write = match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Keep::Check,
        ["--write"] => Keep::Write,
        other => bail!("spec takes `--write` or nothing, not {other:?}"),
    };
    let root = root()?;
    let specs = read_specs(&root)?;
    let places = Places::scan(&root)?;
    let mut wrong = names(&specs);
    wrong.extend(law_files(&root, &places)?);
    wrong.extend(scripts(&root));
    wrong.extend(lock::compare(&root, &specs, &places, write)?);
    wrong.extend(table::compare(&root, &specs, &places, write)?);
    for bounds in BOUNDS.iter().filter(|bounds| bounds.violated.is_none()) {
        let path = root.join(format!("spec/models/{}.cfg", bounds.name));
        wrong.extend(keep(&path, &bounds.tlc_config(), write)?);
    }
    if wrong.is_empty() {
        writeln!(std::io::stdout(), "spec, actions and law agree on {} names", Action::ALL.len())?;
        return Ok(());
    }
    bail!("{}", wrong.join("\n"))
}

/// What to do with a file that the chore keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Check,
    Write,
}

/// Writes the file, or says that it differs.
pub(crate) fn keep(path: &Path, text: &str, how: Keep) -> anyhow::Result<Option<String>> {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(None);
    }
    if how == Keep::Check {
        let name = path.file_name().unwrap_or_default().display();
        return Ok(Some(format!("spec: {name} is not up to date; `cargo xtask spec --write` renews it")));
    }
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))?;
    Ok(None)
}

/// The workspace's folder, wherever the chore was called in it.
pub(crate) fn root() -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let up = here.ancestors().find(|folder| folder.join("spec/Remora.tla").exists());
    Ok(up.context("no spec/Remora.tla here or above")?.to_owned())
}

/// Both modules.
pub(crate) fn read_specs(root: &Path) -> anyhow::Result<Vec<(Module, Spec)>> {
    let read = |module: Module| {
        let path = root.join(format!("spec/{}.tla", module.spec_name()));
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        Ok((module, Spec::parse(&text)))
    };
    Module::ALL.into_iter().map(read).collect()
}

fn spec_name(step: &Move) -> &'static str {
    step.action().spec_name()
}

/// Each disjunct is an action of that module, once, and every action is a disjunct.
fn names(specs: &[(Module, Spec)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (module, spec) in specs {
        let of_module = |action: &Action| *module == Module::TwoStores || !action.only_two_stores();
        let known: Vec<_> =
            Action::ALL.iter().filter(|one| of_module(one)).map(|one| one.spec_name()).collect();
        let disjuncts = spec.disjuncts();
        for name in disjuncts.iter().collect::<BTreeSet<_>>() {
            let times = disjuncts.iter().filter(|one| *one == name).count();
            if times > 1 {
                wrong.push(format!("spec: {name} is {times} times in Next of {}", module.spec_name()));
            }
            if !known.contains(&name.as_str()) {
                wrong.push(format!("spec: {name} of {} is no Action", module.spec_name()));
            }
        }
        let mut listed: Vec<_> = instances(&Law::of(*module, Constants::ONE)).iter().map(spec_name).collect();
        listed.dedup();
        if wrong.is_empty() && listed != disjuncts {
            wrong.push(format!("spec: instances() is not in the order of Next of {}", module.spec_name()));
        }
        for name in known.iter().filter(|name| !disjuncts.iter().any(|one| one == **name)) {
            wrong.push(format!("spec: Action::{name} is not in Next of {}", module.spec_name()));
        }
    }
    wrong
}

/// Adapters whose steps are scripts or functions: the room, where they lie, how they end.
const SCRIPTED: [(Room, &str, &str); 2] = [
    (Room::Coordination, "crates/coordination/src/dragonfly/lua", "lua"),
    (Room::Coordination, "crates/coordination/src/postgres/sql", "sql"),
];

/// Each action of such a room has a script that begins with its name.
fn scripts(root: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for (room, folder, ending) in SCRIPTED {
        for action in Action::ALL.iter().filter(|action| action.room() == room) {
            let name = format!("{folder}/{}.{ending}", action.name());
            let begins = format!("-- {}: ", action.spec_name());
            match std::fs::read_to_string(root.join(&name)) {
                Ok(text) if text.starts_with(&begins) => {}
                Ok(_) => wrong.push(format!("spec: {name} does not begin with `{begins}`")),
                Err(_) => wrong.push(format!("spec: {name} is missing")),
            }
        }
    }
    wrong
}

/// Each action has one file of the law, with one function that says which it is; no file is left over.
fn law_files(root: &Path, places: &Places) -> anyhow::Result<Vec<String>> {
    let mut wrong = Vec::new();
    for action in Action::ALL {
        let path = places::law_file(action);
        let times = places.aliases_in(&path, action.spec_name());
        if times != 1 {
            wrong.push(format!("spec: {path} has the alias {} {times} times, not once", action.spec_name()));
        }
        if places.driver(action).is_none() {
            wrong.push(format!("spec: the doc of {path} does not say `driven by …`"));
        }
    }
    for entry in std::fs::read_dir(root.join(places::LAW))? {
        let name = entry?.file_name().display().to_string();
        let name = name.trim_end_matches(".rs");
        let helper = matches!(name, "mod" | "shared");
        if !helper && !Action::ALL.iter().any(|action| action.name() == name) {
            wrong.push(format!("spec: {}/{name}.rs is no action's", places::LAW));
        }
    }
    Ok(wrong)
}
