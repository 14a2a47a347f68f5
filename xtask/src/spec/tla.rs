//! As much of TLA+ as the two modules use: definitions, one after the other.

use std::collections::{BTreeMap, BTreeSet};

/// A definition: where it starts and what it says, without comments.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// A module's definitions by name.
#[derive(Debug)]
pub(crate) struct Spec {
    definitions: BTreeMap<String, Definition>,
}

impl Spec {
    pub(crate) fn parse(text: &str) -> Self {
        let mut definitions: BTreeMap<String, Definition> = BTreeMap::new();
        let mut current: Option<String> = None;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split("\\*").next().unwrap_or("").trim_end();
            if text.starts_with("----") || text.starts_with("====") || heading(text) {
                current = None;
            } else if let Some(name) = defined(text) {
                definitions.insert(name.clone(), Definition { line, text: String::new() });
                current = Some(name);
            }
            if let Some(definition) = current.as_ref().and_then(|name| definitions.get_mut(name)) {
                let words: Vec<_> = text.split_whitespace().collect();
                definition.text += &words.join(" ");
                definition.text.push(' ');
            }
        }
        Self { definitions }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Definition> {
        self.definitions.get(name)
    }

    /// The actions that `Next` lists, in its order.
    pub(crate) fn disjuncts(&self) -> Vec<String> {
        let Some(next) = self.get("Next") else { return Vec::new() };
        let body = next.text.split_once("==").map_or("", |(_, body)| body);
        let known = |word: &&str| self.definitions.contains_key(*word);
        // A bound set stands between `\E` and `:`; what is left are the actions.
        let mut names = Vec::new();
        for part in body.split("\\/") {
            let action = part.rsplit_once(':').map_or(part, |(_, action)| action);
            names.extend(words(action).filter(known).take(1).map(str::to_owned));
        }
        names
    }

    /// How `Fairness` binds an action: `WF`, `SF`, or not at all.
    pub(crate) fn fairness(&self, action: &str) -> Option<&'static str> {
        let fairness = self.get("Fairness")?;
        let names_it = |part: &str| {
            let called = words(part).find(|word| self.definitions.contains_key(*word));
            called.is_some_and(|called| {
                let body = self.get(called).map_or("", |one| one.text.as_str());
                called == action || words(body).skip(1).any(|word| word == action)
            })
        };
        for (mark, strength) in [("SF_vars(", "SF"), ("WF_vars(", "WF")] {
            // An action such as `RestoreLink` never calls another action, so one level is enough.
            if fairness.text.split(mark).skip(1).any(names_it) {
                return Some(strength);
            }
        }
        None
    }

    /// The definition with all that it rests on, down to the variables.
    pub(crate) fn meaning(&self, name: &str) -> String {
        let mut all = BTreeSet::new();
        let mut open = vec![name.to_owned()];
        while let Some(name) = open.pop() {
            if let Some(definition) = self.get(&name).filter(|_| all.insert(name.clone())) {
                open.extend(words(&definition.text).map(str::to_owned));
            }
        }
        all.iter().filter_map(|name| self.get(name)).map(|one| one.text.as_str()).collect()
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

fn heading(text: &str) -> bool {
    ["EXTENDS", "CONSTANTS", "ASSUME", "VARIABLES"].iter().any(|word| text.starts_with(word))
}

/// The name that a line begins to define.
fn defined(text: &str) -> Option<String> {
    let (left, _) = text.split_once("==")?;
    let left = left.trim_end();
    let name = left.split_once('(').map_or(left, |(name, _)| name);
    let plain = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (plain && !text.starts_with(' ')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "---- MODULE Small ----\n\\* Words == no definition\nVARIABLES x, y\n\nBig == x > 7\n\
        \nGrow(n) ==\n  /\\ ~Big \\* a remark\n  /\\ x' = x + n\n\nAny(n) == Grow(n)\n\nStop == x' = 0\n\n\
        Next ==\n  \\/ \\E n \\in 1..3 : Grow(n)\n  \\/ Stop\n\nFairness ==\n  /\\ \\A n \\in 1..3 : SF_vars(Any(n))\n====\n";

    #[test]
    fn the_disjuncts_of_next_are_read_in_order() {
        assert_eq!(Spec::parse(SMALL).disjuncts(), ["Grow", "Stop"]);
    }

    #[test]
    fn fairness_is_found_directly_and_through_a_grouping() {
        let spec = Spec::parse(SMALL);
        assert_eq!(spec.fairness("Grow"), Some("SF"));
        assert_eq!(spec.fairness("Stop"), None);
    }

    #[test]
    fn a_meaning_changes_with_what_it_rests_on_and_not_with_comments_or_layout() {
        let meaning = |text: &str| Spec::parse(text).meaning("Grow");
        assert_eq!(
            meaning(SMALL),
            meaning(&SMALL.replace("a remark", "another").replace("x > 7", "x  >  7"))
        );
        assert_ne!(meaning(SMALL), meaning(&SMALL.replace("x > 7", "x > 8")));
        assert_eq!(meaning(SMALL), meaning(&SMALL.replace("x' = 0", "x' = 1")));
    }
}
