//! Where the source speaks of a name: `#[doc(alias = "Name")]`, and files called after an action.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use protocol::Action;

/// The law's folder.
pub(crate) const LAW: &str = "crates/protocol/src/machine/actions";

/// The file of the law for an action.
pub(crate) fn law_file(action: Action) -> String {
    format!("{LAW}/{}.rs", action.name())
}

/// A place in the source: a path from the workspace's folder, and a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) line: usize,
}

/// All places, and the law's own words.
#[derive(Debug, Default)]
pub(crate) struct Places {
    aliases: BTreeMap<String, Vec<Place>>,
    files: Vec<String>,
    drivers: BTreeMap<String, String>,
}

impl Places {
    /// Reads every source file of the workspace's crates.
    pub(crate) fn scan(root: &Path) -> anyhow::Result<Self> {
        let mut places = Self::default();
        let mut open = vec![root.join("crates")];
        while let Some(folder) = open.pop() {
            let entries = std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))?;
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() {
                    open.push(path);
                } else if let Ok(name) = path.strip_prefix(root) {
                    places.read(&path, name.to_string_lossy().replace('\\', "/"))?;
                }
            }
        }
        places.files.sort();
        places.aliases.values_mut().for_each(|list| list.sort());
        Ok(places)
    }

    fn read(&mut self, path: &Path, name: String) -> anyhow::Result<()> {
        if name.ends_with(".rs") {
            let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
            for (line, text) in (1..).zip(text.lines()) {
                let alias =
                    text.trim().strip_prefix("#[doc(alias = \"").and_then(|rest| rest.split_once('"'));
                if let Some((alias, _)) = alias {
                    let place = Place { path: name.clone(), line };
                    self.aliases.entry(alias.to_owned()).or_default().push(place);
                }
            }
            if name.starts_with(LAW) {
                let docs: Vec<_> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
                self.drivers.insert(name.clone(), driver_in(&docs.join(" ")).unwrap_or_default());
            }
        }
        if [".rs", ".sql", ".lua"].iter().any(|ending| name.ends_with(ending)) {
            self.files.push(name);
        }
        Ok(())
    }

    /// Where a name is an alias.
    pub(crate) fn aliases(&self, name: &str) -> &[Place] {
        self.aliases.get(name).map_or(&[], Vec::as_slice)
    }

    /// How often a name is an alias in one file.
    pub(crate) fn aliases_in(&self, path: &str, name: &str) -> usize {
        self.aliases(name).iter().filter(|place| place.path == path).count()
    }

    /// Files that speak of an action: by alias, or by their own name. Without the law's.
    pub(crate) fn files_of(&self, action: Action) -> Vec<String> {
        let called = |path: &&String| {
            let file = path.rsplit('/').next().unwrap_or("");
            file.rsplit_once('.').is_some_and(|(stem, _)| stem == action.name())
        };
        let mut all: Vec<String> = self.files.iter().filter(called).cloned().collect();
        all.extend(self.aliases(action.spec_name()).iter().map(|place| place.path.clone()));
        all.retain(|path| !path.starts_with(LAW));
        all.sort();
        all.dedup();
        all
    }

    /// Who drives an action, as its file of the law says.
    pub(crate) fn driver(&self, action: Action) -> Option<&str> {
        self.drivers.get(&law_file(action)).map(String::as_str).filter(|driver| !driver.is_empty())
    }
}

fn driver_in(doc: &str) -> Option<String> {
    let (_, rest) = doc.split_once("riven by ")?;
    let driver = rest.split(['.', ';', ':', ',']).next()?;
    Some(driver.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_read_out_of_a_sentence() {
        let doc = " A lease ends. Coordination,  driven by the\n reaper. More.";
        assert_eq!(driver_in(doc).as_deref(), Some("the reaper"));
        assert_eq!(driver_in("nobody"), None);
    }
}
