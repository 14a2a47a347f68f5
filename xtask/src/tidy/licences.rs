//! Licences of everything that is built, against the list in `deny.toml`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::Breach;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    license_file: Option<String>,
}

#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// What one package alone may have.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

impl Licenses {
    fn of(&self, package: &Package) -> Vec<String> {
        let own = self.exceptions.iter().filter(|exception| exception.package == package.name);
        self.allow.iter().chain(own.flat_map(|exception| &exception.allow)).cloned().collect()
    }
}

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Breach>> {
    let deny: Deny = toml::from_str(&fs::read_to_string(root.join("deny.toml")).context("read deny.toml")?)?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root)
        .output()
        .context("run cargo metadata")?;
    ensure!(
        output.status.success(),
        "cargo metadata failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    Ok(metadata.packages.iter().filter_map(|package| judge(package, &deny.licenses.of(package))).collect())
}

fn judge(package: &Package, allowed: &[String]) -> Option<Breach> {
    let place = format!("{} {}", package.name, package.version);
    match (&package.license, &package.license_file) {
        (Some(expression), _) if is_allowed(expression, allowed) => None,
        (Some(expression), _) => {
            Some(Breach::new(place, format!("its licence `{expression}` is not allowed by deny.toml")))
        }
        (None, Some(file)) => Some(Breach::new(place, format!("its licence is only a file, {file}"))),
        (None, None) => Some(Breach::new(place, "it names no licence")),
    }
}

/// Whether an SPDX expression can be met: any side of an OR, every side of an AND.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut depth = 0_usize;
    let mut parts = vec![String::new()];
    let mut operators = Vec::new();
    for word in expression.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        match word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            "OR" | "AND" if depth == 0 => {
                operators.push(word.to_owned());
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            if !part.is_empty() {
                part.push(' ');
            }
            part.push_str(word);
        }
    }
    if parts.len() == 1 {
        let part = parts.remove(0);
        return match part.strip_prefix("( ").and_then(|inner| inner.strip_suffix(" )")) {
            Some(inner) => is_allowed(inner, allowed),
            None => allowed.contains(&part),
        };
    }
    // OR binds less than AND: groups of AND, any of which will do.
    let mut groups = vec![true];
    for (index, part) in parts.iter().enumerate() {
        if index > 0 && operators[index - 1] == "OR" {
            groups.push(true);
        }
        if let Some(group) = groups.last_mut() {
            *group &= is_allowed(part, allowed);
        }
    }
    groups.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_met_by_any_side_of_or_and_every_side_of_and() {
        let allowed =
            ["MIT".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned(), "Unicode-3.0".to_owned()];
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR AGPL-3.0) AND MIT", ""] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }
}
