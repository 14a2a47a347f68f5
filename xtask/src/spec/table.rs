//! The table of spec/README.md: action, room, law, rooms' files, who drives it, tests.

use std::path::Path;

use anyhow::Context as _;
use protocol::machine::Module;
use protocol::{Action, Room};

use super::places::{Places, law_file};
use super::tla::Spec;
use super::{Keep, keep};

const BEGIN: &str = "<!-- begin: cargo xtask spec --write -->\n";
const END: &str = "<!-- end -->\n";

/// Renews the table, or says that it is not up to date.
pub(crate) fn compare(
    root: &Path,
    specs: &[(Module, Spec)],
    places: &Places,
    how: Keep,
) -> anyhow::Result<Option<String>> {
    let path = root.join("spec/README.md");
    let text = std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let (before, rest) = text.split_once(BEGIN).context("spec/README.md has no begin mark")?;
    let (_, after) = rest.split_once(END).context("spec/README.md has no end mark")?;
    keep(&path, &format!("{before}{BEGIN}{}{END}{after}", table(specs, places)), how)
}

fn table(specs: &[(Module, Spec)], places: &Places) -> String {
    let mut text = "| action | room | law | in the rooms | driven by | driven in | other tests |\n\
        |---|---|---|---|---|---|---|\n"
        .to_owned();
    for action in Action::ALL {
        let files = places.files_of(action);
        let (tests, rest): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| is_test(path));
        let (rooms, drivers): (Vec<_>, Vec<_>) = rest.into_iter().partition(|path| in_room(path));
        let modules = if action.only_two_stores() { " *(TwoStores)*" } else { "" };
        text += &format!(
            "| {}{modules} | {} | [law and unit test](../{}) | {} | {} | {} | {} |\n",
            action.spec_name(),
            room(action),
            law_file(action),
            links(&rooms),
            driver(action, specs, places),
            links(&drivers),
            links(&tests),
        );
    }
    text
}

fn room(action: Action) -> &'static str {
    match action.room() {
        Room::Durable => "durable",
        Room::Coordination => "coordination",
        Room::Target => "target",
        Room::Worker => "worker",
        Room::World => "world",
    }
}

fn driver(action: Action, specs: &[(Module, Spec)], places: &Places) -> String {
    let who = places.driver(action).unwrap_or("nobody");
    let strength = specs.iter().find_map(|(_, spec)| spec.fairness(action.spec_name()));
    strength.map_or_else(|| who.to_owned(), |strength| format!("{who} ({strength})"))
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.contains("/conformance/")
}

fn in_room(path: &str) -> bool {
    ["crates/durable/", "crates/coordination/", "crates/target/"].iter().any(|room| path.starts_with(room))
}

/// Each file as a link that says where it is: `durable/sqlite/authorize_attempt.sql`.
fn links(paths: &[String]) -> String {
    let label = |path: &String| {
        let said = |part: &&str| !matches!(*part, "crates" | "src" | "actions" | "sql" | "lua");
        let short: Vec<_> = path.split('/').filter(said).collect();
        format!("[{}](../{path})", short.join("/"))
    };
    paths.iter().map(label).collect::<Vec<_>>().join("<br>")
}
