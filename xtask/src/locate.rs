//! `cargo xtask where NAME`: every place that a name of the spec has, in the spec and in the source.
//!
//! A name is an action's (`AuthorizeAttempt` or `authorize_attempt`), any other definition's of the spec, or a
//! guard's (`attempts_left`), for which the actions that ask it are listed.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use protocol::machine::{Seen, instance::outline};
use protocol::{Action, Guard, Room};

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
    if let Some(action) = action {
        lines.extend(told(action, &read_traces(&root)?));
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

/// The manual's page of traces, whose table a test holds to what is told.
fn read_traces(root: &std::path::Path) -> anyhow::Result<String> {
    let path = root.join("docs/reference/traces.md");
    std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
}

/// The metrics that count and measure an action, and its span where it has one.
fn told(action: Action, traces: &str) -> Vec<String> {
    let name = action.name();
    let mut lines = vec![format!("    metric  remora_actions_total{{action=\"{name}\"}}")];
    let room = match action.room() {
        Room::Durable => Some("durable"),
        Room::Coordination => Some("coordination"),
        _ => None,
    };
    lines.extend(room.map(|room| {
        format!("    metric  remora_room_request_duration_seconds{{room=\"{room}\",action=\"{name}\"}}")
    }));
    let start = format!("| `{name}` | ");
    let row = traces.lines().find_map(|line| line.strip_prefix(start.as_str()));
    lines.extend(row.map(|row| format!("    span    {}", row.trim_end_matches(" |").replace('`', ""))));
    lines
}

fn seen(seen: Seen) -> &'static str {
    match seen {
        Seen::Here => "its own room holds it",
        Seen::Carried => "the request carries it",
        Seen::Sender => "the sender's own",
        Seen::Elsewhere => "another room holds it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_leads_to_its_metrics_and_its_span_where_it_has_one() {
        let traces = read_traces(&root().unwrap()).unwrap();
        let lines = told(Action::AcceptSuccess, &traces).join("\n");
        assert!(lines.contains(r#"remora_actions_total{action="accept_success"}"#), "{lines}");
        assert!(lines.contains(r#"{room="durable",action="accept_success"}"#), "{lines}");
        assert!(lines.contains("span    process ends; settle"), "{lines}");
        assert_eq!(told(Action::SendOutcome, &traces).len(), 1);
    }
}
