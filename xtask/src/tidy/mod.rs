//! `cargo xtask tidy`: the rules of the house that no compiler knows.
//!
//! Each rule lists what breaks it, with the file and the line; nothing is changed.

mod arrows;
mod files;
mod licences;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// One breach of a rule.
pub(crate) struct Breach {
    /// Where.
    place: String,
    /// What.
    text: String,
}

impl Breach {
    fn new(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { place: place.into(), text: text.into() }
    }
}

/// Checks everything.
///
/// # Errors
/// When a rule is broken; each breach has been printed.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if let Some(word) = args.first() {
        bail!("`cargo xtask tidy` takes no words; `{word}` was given");
    }
    let root = root()?;
    let mut breaches = files::check(&root)?;
    breaches.extend(arrows::check(&root)?);
    breaches.extend(licences::check(&root)?);
    for breach in &breaches {
        crate::say(&format!("{}: {}", breach.place, breach.text));
    }
    match breaches.len() {
        0 => Ok(()),
        count => bail!("{count} breaches of the house's rules"),
    }
}

/// The workspace's folder.
pub(crate) fn root() -> anyhow::Result<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().map(Path::to_owned).context("find the workspace above xtask")
}
