//! `spec/actions.lock`: a hash of each action's meaning in each module.
//!
//! An action's meaning is its definition and all it rests on, without comments and layout. When it changes, the
//! files that implement the action must be read again; only then is the lock renewed.

use std::path::Path;

use protocol::Action;
use protocol::machine::Module;

use super::places::{Places, law_file};
use super::tla::Spec;
use super::{Keep, keep};

const HEADER: &str = "# A hash of each action's meaning: its definition and all that it rests on, without comments.\n\
    # After an edit of the spec, read the files that `cargo xtask spec` names, then `cargo xtask spec --write`.\n";

/// Renews the lock, or says which actions changed and what to read again.
pub(crate) fn compare(
    root: &Path,
    specs: &[(Module, Spec)],
    places: &Places,
    how: Keep,
) -> anyhow::Result<Vec<String>> {
    let path = root.join("spec/actions.lock");
    let locked = std::fs::read_to_string(&path).unwrap_or_default();
    let mut text = HEADER.to_owned();
    let mut wrong = Vec::new();
    for action in Action::ALL {
        let line = line_of(action, specs);
        if how == Keep::Check && !locked.lines().any(|there| there == line.trim_end()) {
            let name = action.spec_name();
            wrong.push(format!("spec: the meaning of {name} changed since it was locked; read again:"));
            wrong.push(format!("    {}", law_file(action)));
            wrong.extend(places.files_of(action).iter().map(|file| format!("    {file}")));
        }
        text += &line;
    }
    if wrong.is_empty() {
        wrong.extend(keep(&path, &text, how)?);
    }
    Ok(wrong)
}

fn line_of(action: Action, specs: &[(Module, Spec)]) -> String {
    let hashes = specs.iter().map(|(_, spec)| match spec.get(action.spec_name()) {
        Some(_) => format!("{:016x}", fnv(&spec.meaning(action.spec_name()))),
        None => format!("{:16}", "-"),
    });
    let line = format!("{:<26} {}", action.spec_name(), hashes.collect::<Vec<_>>().join(" "));
    format!("{}\n", line.trim_end())
}

/// FNV-1a: enough to notice an edit.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
