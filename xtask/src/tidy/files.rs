//! Rules for single files: length, words that have no business here, contracts of SQL and Lua files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::Breach;

/// Lines a Rust file may have without its tests.
const LONGEST: usize = 500;

/// Words that must not stand anywhere, and why. Written in two halves so that this file may name them.
const BANNED: [(&str, &str, &str); 5] = [
    ("/wo", "rk/", "a path of somebody's machine"),
    ("/ro", "ot/", "a path of somebody's machine"),
    ("index.cra", "tes.io", "a registry's host"),
    ("#[ign", "ore", "a test that is not run tells nothing"),
    ("dbg", "!(", "left over from looking for a fault"),
];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Breach>> {
    let mut breaches = Vec::new();
    for path in tracked(root)? {
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        let place = path.display().to_string();
        words(&place, &text, &mut breaches);
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => rust(&place, &text, &mut breaches),
            Some("sql") => contract(&place, &text, "--", &mut breaches),
            Some("lua") => contract(&place, &text, "--", &mut breaches),
            _ => {}
        }
    }
    Ok(breaches)
}

/// What git tracks or would track.
fn tracked(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("run git")?;
    ensure!(
        output.status.success(),
        "git ls-files failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect())
}

fn words(place: &str, text: &str, breaches: &mut Vec<Breach>) {
    for (number, line) in text.lines().enumerate() {
        let at = || format!("{place}:{}", number + 1);
        for (first, second, why) in BANNED {
            if line.contains(&format!("{first}{second}")) {
                breaches.push(Breach::new(at(), format!("`{first}{second}` is {why}")));
            }
        }
        if line.contains(concat!("TO", "DO")) && !place.starts_with("docs/") {
            breaches.push(Breach::new(at(), "what is not done stands in docs/, not in the code"));
        }
    }
}

fn rust(place: &str, text: &str, breaches: &mut Vec<Breach>) {
    let own = text.find("\n#[cfg(test)]\nmod tests {").map_or(text, |tests| &text[..tests]);
    let lines = own.lines().count();
    let is_test = place.contains("/tests/") || place.ends_with("tests.rs");
    if lines > LONGEST && !is_test {
        breaches.push(Breach::new(place, format!("{lines} lines without tests; at most {LONGEST}")));
    }
    let documented = own.trim_start().starts_with("//!") || own.trim_start().starts_with("#![doc");
    if !documented {
        breaches.push(Breach::new(place, "begins without a module doc that says what it is"));
    }
    let knows_sql =
        ["crates/durable/", "crates/coordination/src/postgres/", "crates/coordination/tests/postgres"];
    if place.starts_with("crates/") && !knows_sql.iter().any(|folder| place.starts_with(folder)) {
        for (number, line) in own.lines().enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//")
                && ["\"SELECT ", "\"INSERT ", "\"UPDATE ", "\"DELETE "].iter().any(|sql| code.contains(sql))
            {
                breaches.push(Breach::new(
                    format!("{place}:{}", number + 1),
                    "only durable and coordination/postgres know SQL",
                ));
            }
        }
    }
}

fn contract(place: &str, text: &str, comment: &str, breaches: &mut Vec<Breach>) {
    if !text.trim_start().starts_with(comment) {
        breaches.push(Breach::new(
            place,
            "begins without its contract: action, what it writes, parameters, answers",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(place: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(place, text, &mut found);
        rust(place, text, &mut found);
        found.into_iter().map(|breach| breach.text).collect()
    }

    #[test]
    fn each_rule_for_rust_files_bites() {
        assert!(breaches("crates/a/src/x.rs", "//! Fine.\n").is_empty());
        assert!(breaches("crates/a/src/x.rs", "fn x() {}\n")[0].contains("module doc"));
        let long = format!("//! Long.\n{}", "fn x() {}\n".repeat(LONGEST));
        assert!(breaches("crates/a/src/x.rs", &long)[0].contains("501 lines"));
        assert!(breaches("crates/a/src/x.rs", "//! Doc.\nlet x = \"SELECT 1\";")[0].contains("SQL"));
        for (first, second, why) in BANNED {
            assert!(breaches("x.rs", &format!("//! Doc.\n// {first}{second}"))[0].contains(why));
        }
        assert_eq!(
            breaches("x.rs", concat!("//! Doc.\n// TO", "DO"))[0],
            "what is not done stands in docs/, not in the code"
        );
    }

    #[test]
    fn a_statement_without_contract_is_named() {
        let mut found = Vec::new();
        contract("a.sql", "SELECT 1", "--", &mut found);
        contract("b.sql", "-- b: reads nothing.\nSELECT 1", "--", &mut found);
        assert_eq!(found.len(), 1);
    }
}
