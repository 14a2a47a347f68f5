//! Who may know whom: no room knows another, nothing points up (ARCHITECTURE.md).

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::Breach;

/// Each crate of the house and the crates of the house that it must not depend on, tests included.
const FORBIDDEN: [(&str, &[&str]); 15] = [
    (
        "pg",
        &[
            "durable",
            "coordination",
            "target",
            "wire",
            "agents",
            "worker",
            "server",
            "remora",
            "model",
            "runtime",
        ],
    ),
    (
        "protocol",
        &[
            "durable",
            "coordination",
            "target",
            "wire",
            "agents",
            "worker",
            "server",
            "remora",
            "model",
            "runtime",
        ],
    ),
    ("model", &["durable", "coordination", "target", "wire", "agents", "worker", "server", "remora"]),
    ("runtime", &["durable", "coordination", "target", "wire", "agents", "worker", "server", "remora"]),
    ("durable", &["coordination", "target", "wire", "agents", "worker", "server", "remora"]),
    ("coordination", &["durable", "target", "wire", "agents", "worker", "server", "remora"]),
    ("target", &["durable", "coordination", "wire", "agents", "worker", "server", "remora"]),
    ("wire", &["target", "agents", "worker", "server", "remora"]),
    ("agents", &["wire", "worker", "server", "remora"]),
    ("worker", &["wire", "agents", "server", "remora"]),
    ("api", &["wire", "agents", "worker", "server", "remora", "web"]),
    ("metrics", &["target", "wire", "agents", "worker", "server", "remora", "web"]),
    ("traces", &["coordination", "target", "agents", "worker", "server", "remora", "web", "metrics"]),
    ("web", &["coordination", "target", "wire", "agents", "worker", "server", "remora", "pages"]),
    // Its tests prepare rooms; what it shows comes from the port.
    ("pages", &["wire", "agents", "worker", "server", "remora", "metrics"]),
];

/// Libraries that only these crates may know.
const OWNED: [(&str, &[&str]); 4] = [
    ("rusqlite", &["durable"]),
    ("tokio-postgres", &["pg", "durable", "coordination"]),
    ("pg", &["durable", "coordination"]),
    ("redis", &["coordination"]),
];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Breach>> {
    let mut breaches = Vec::new();
    for entry in fs::read_dir(root.join("crates")).context("list the crates")? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let manifest = fs::read_to_string(path.join("Cargo.toml"))
            .with_context(|| format!("read the manifest of {name}"))?;
        breaches.extend(manifest_breaches(name, &manifest));
    }
    Ok(breaches)
}

/// Names at the beginning of lines in the manifest's dependency tables.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies");
        } else if inside && line.starts_with(|first: char| first.is_ascii_lowercase()) {
            names.extend(line.split(['.', ' ', '=']).next());
        }
    }
    names
}

fn manifest_breaches(name: &str, manifest: &str) -> Vec<Breach> {
    let place = format!("crates/{name}/Cargo.toml");
    let forbidden =
        FORBIDDEN.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, forbidden)| forbidden);
    let mut breaches = Vec::new();
    for dependency in dependencies(manifest) {
        if forbidden.contains(&dependency) {
            breaches.push(Breach::new(&place, format!("{name} must not know {dependency}")));
        }
        let owned = OWNED.iter().find(|(library, owners)| *library == dependency && !owners.contains(&name));
        if let Some((_, owners)) = owned {
            let owners = owners.join(" and ");
            breaches.push(Breach::new(&place, format!("only {owners} may know {dependency}")));
        }
    }
    if name == "protocol" {
        for dependency in dependencies(manifest.split("[dev-dependencies]").next().unwrap_or("")) {
            if dependency != "serde" {
                breaches.push(Breach::new(
                    &place,
                    format!("protocol is pure: it knows serde and not {dependency}"),
                ));
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_between_rooms_is_named() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nprotocol.workspace = true\ntarget = { workspace = true }\n";
        let texts: Vec<_> =
            manifest_breaches("durable", manifest).into_iter().map(|breach| breach.text).collect();
        assert_eq!(texts, ["durable must not know target"]);
        assert!(manifest_breaches("worker", manifest).is_empty());
    }

    #[test]
    fn a_library_of_one_room_is_named_elsewhere_and_protocol_stays_pure() {
        let manifest = "[dependencies]\nrusqlite = { workspace = true }\n[dev-dependencies]\nserde_json.workspace = true\n";
        assert_eq!(manifest_breaches("durable", manifest).len(), 0);
        assert_eq!(manifest_breaches("server", manifest)[0].text, "only durable may know rusqlite");
        assert!(manifest_breaches("protocol", manifest).iter().any(|breach| breach.text.contains("pure")));
    }
}
