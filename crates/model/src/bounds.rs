//! The named bounds of `spec/models/expected.toml`, and what must be found within each.
//!
//! Promises: the file is the only place where a bound or a count is written down; this reads it.
//! Reads only the shape that file has: `[name]`, and `key = value` with whole numbers, words in quotes, lists
//! of such words, `true` and `false`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use protocol::Action;
use protocol::machine::{Constants, Law, Module, ReaperJudgement, Rules, Service};

/// A named configuration.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its name, such as `a1`.
    pub name: String,
    /// The law and its bounds.
    pub law: Law,
    /// Distinct states that must be found, if published.
    pub distinct: Option<u64>,
    /// Depth that must be found, if published.
    pub depth: Option<u64>,
    /// States generated that must be found, if published.
    pub generated: Option<u64>,
    /// Whether the liveness properties are part of it.
    pub liveness: bool,
    /// The property that must be violated; none for the law itself.
    pub violated: Option<String>,
}

/// All named configurations.
pub static BOUNDS: LazyLock<Vec<Named>> = LazyLock::new(|| {
    parse(include_str!("../../../spec/models/expected.toml"))
        .expect("spec/models/expected.toml is well formed")
});

/// What cannot be read in the file of bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadBounds {
    /// The section.
    pub name: String,
    /// The key, and what is wrong with it.
    pub key: String,
}

impl fmt::Display for BadBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.name, self.key)
    }
}

impl std::error::Error for BadBounds {}

impl Named {
    /// The configuration of that name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        BOUNDS.iter().find(|bounds| bounds.name == name)
    }

    /// The same bounds as TLC reads them.
    #[must_use]
    pub fn tlc_config(&self) -> String {
        let bounds = self.law.constants;
        let set = |letter: char, count: u16| {
            let names: Vec<_> = (1..=count).map(|number| format!("{letter}{number}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let services: Vec<_> = Service::ALL.iter().filter(|one| bounds.fault_services[one.index()]).collect();
        let services: Vec<_> = services.iter().map(|one| format!("\"{one}\"")).collect();
        let mut text = format!("\\* {} within bounds {}.\n", self.law.rules.module.spec_name(), self.name);
        text += if self.liveness { "SPECIFICATION Spec\n" } else { "SPECIFICATION SafetySpec\n" };
        text += "CHECK_DEADLOCK FALSE\nCONSTANTS\n";
        for (name, value) in [
            ("Jobs", set('j', bounds.jobs)),
            ("Workers", set('w', bounds.workers)),
            ("InitialWorkers", set('w', bounds.initial_workers)),
            ("NoJob", "NoJob".to_owned()),
            ("NoWorker", "NoWorker".to_owned()),
            ("MaxAttempts", bounds.max_attempts.to_string()),
            ("MaxProgress", bounds.max_progress.to_string()),
            ("LeaseLimit", bounds.lease_limit.to_string()),
            ("LocalLimit", bounds.local_limit.to_string()),
            ("GlobalLimit", bounds.global_limit.to_string()),
            ("FaultsEnabled", if bounds.faults_enabled { "TRUE" } else { "FALSE" }.to_owned()),
            ("FaultServices", format!("{{{}}}", services.join(", "))),
        ] {
            text += &format!("  {name} = {value}\n");
        }
        let names: Vec<_> = protocol::machine::INVARIANTS.iter().map(|one| one.name).collect();
        text += &format!("INVARIANTS\n  {}\n", names.join("\n  "));
        text += "PROPERTIES\n  TerminalStateIsImmutable\n  FencingTokensMonotonic\n  CommitIsFencedCAS\n";
        if self.liveness {
            text += "  AtLeastOnceDelivery\n  EventuallyReaped\n  EventuallyTerminal\n";
        }
        text
    }
}

/// Reads a file of bounds.
pub(crate) fn parse(text: &str) -> Result<Vec<Named>, BadBounds> {
    let mut sections: Vec<(String, BTreeMap<&str, &str>)> = Vec::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push((name.to_owned(), BTreeMap::new()));
        } else if let (Some((key, value)), Some((_, keys))) = (line.split_once('='), sections.last_mut()) {
            keys.insert(key.trim(), value.trim());
        }
    }
    sections.into_iter().map(|(name, keys)| section(name, keys)).collect()
}

/// The keys of one section, taken one by one so that a stranger is noticed.
struct Keys<'a> {
    name: String,
    left: BTreeMap<&'a str, &'a str>,
}

impl<'a> Keys<'a> {
    fn bad(&self, key: &str) -> BadBounds {
        BadBounds { name: self.name.clone(), key: key.to_owned() }
    }

    fn number(&mut self, key: &str) -> Result<Option<u64>, BadBounds> {
        let Some(text) = self.left.remove(key) else { return Ok(None) };
        text.replace('_', "").parse().map(Some).map_err(|_| self.bad(key))
    }

    fn small(&mut self, key: &str) -> Result<u16, BadBounds> {
        let number = self.number(key)?.and_then(|number| u16::try_from(number).ok());
        number.ok_or_else(|| self.bad(key))
    }

    fn words(&mut self, key: &str) -> Vec<&'a str> {
        let text = self.left.remove(key).unwrap_or("");
        text.split(['[', ']', ',', '"']).map(str::trim).filter(|word| !word.is_empty()).collect()
    }

    fn flag(&mut self, key: &str) -> bool {
        self.left.remove(key) == Some("true")
    }
}

fn section(name: String, left: BTreeMap<&str, &str>) -> Result<Named, BadBounds> {
    let mut keys = Keys { name, left };
    let law = Law { rules: rules(&mut keys)?, constants: constants(&mut keys)? };
    let named = Named {
        law,
        distinct: keys.number("distinct")?,
        depth: keys.number("depth")?,
        generated: keys.number("generated")?,
        liveness: keys.flag("liveness"),
        violated: keys.words("violated").first().map(|word| (*word).to_owned()),
        name: keys.name.clone(),
    };
    match keys.left.keys().next() {
        Some(stranger) => Err(keys.bad(stranger)),
        None => Ok(named),
    }
}

fn rules(keys: &mut Keys<'_>) -> Result<Rules, BadBounds> {
    let module = keys.words("module");
    let module = Module::ALL.into_iter().find(|one| module == [one.spec_name()]);
    let mut rules = Rules::of(module.ok_or_else(|| keys.bad("module"))?);
    for name in keys.words("without") {
        let action = Action::ALL.into_iter().find(|action| action.spec_name() == name);
        rules = rules.without_action(action.ok_or_else(|| keys.bad("without"))?);
    }
    if keys.words("reaper") == ["any-reservation"] {
        rules = rules.with_reaper(ReaperJudgement::AnyReservation);
    }
    Ok(rules)
}

fn constants(keys: &mut Keys<'_>) -> Result<Constants, BadBounds> {
    let mut constants = Constants {
        jobs: keys.small("jobs")?,
        workers: keys.small("workers")?,
        initial_workers: keys.small("initial")?,
        max_attempts: keys.small("max_attempts")?,
        max_progress: keys.small("max_progress")?,
        lease_limit: keys.small("lease_limit")?,
        local_limit: keys.small("local")?,
        global_limit: keys.small("global")?,
        faults_enabled: keys.left.contains_key("faults"),
        fault_services: [false; 3],
    };
    for name in keys.words("faults") {
        let service = Service::ALL.iter().find(|one| one.to_string() == name);
        let service = service.ok_or_else(|| keys.bad("faults"))?;
        constants.fault_services[service.index()] = true;
    }
    constants.validate().map_err(|bad| keys.bad(&bad.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_bounds_reads_and_every_name_is_there_once() {
        let names: Vec<_> = BOUNDS.iter().map(|bounds| bounds.name.as_str()).collect();
        for name in ["a1", "a2", "b1", "d1", "e1", "e2", "t1", "t2", "t3"] {
            assert_eq!(names.iter().filter(|one| **one == name).count(), 1, "{name}");
        }
        let d1 = Named::find("d1").unwrap();
        assert_eq!(d1.law.constants.fault_services, [true; 3]);
        assert_eq!(d1.generated, Some(8_643_529));
    }

    #[test]
    fn a_key_that_means_nothing_is_an_error() {
        let text = include_str!("../../../spec/models/expected.toml").replacen("jobs", "jobz", 1);
        assert_eq!(parse(&text).unwrap_err().key, "jobs");
        let text = include_str!("../../../spec/models/expected.toml").replacen("jobs", "colour = 1\njobs", 1);
        assert_eq!(parse(&text).unwrap_err().key, "colour");
    }

    #[test]
    fn the_files_that_tlc_reads_say_the_same() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/models");
        for bounds in BOUNDS.iter().filter(|bounds| bounds.violated.is_none()) {
            let path = format!("{folder}/{}.cfg", bounds.name);
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(text, bounds.tlc_config(), "{path} differs; `cargo xtask spec --write` writes it");
        }
    }
}
