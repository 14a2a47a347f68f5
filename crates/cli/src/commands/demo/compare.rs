//! The serial run, and what differs from it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use durable::JobView;
use target::Digest;

use super::files::Parts;
use super::job::one_file;

/// One line for every job whose published result is not what a plain run gives.
pub(super) fn compare(
    folder: &Path,
    parts: &Parts,
    views: &[JobView],
    published: &[Option<PathBuf>],
    serial: &Path,
) -> Vec<String> {
    let mut differences = Vec::new();
    for (number, ((part, view), published)) in parts.jobs.iter().zip(views).zip(published).enumerate() {
        let job = view.summary.job;
        let Some(published) = published else {
            differences.push(format!("{job} has no result: it is {}", view.summary.phase));
            continue;
        };
        let plain = serial.join(number.to_string());
        match digests_of_plain_run(folder, part, &plain).and_then(|plain| Ok((plain, digests(published)?))) {
            Ok((plain, published)) if plain == published => {}
            Ok((plain, published)) => {
                differences.push(format!("{job} differs: {}", first_difference(&plain, &published)))
            }
            Err(error) => differences.push(format!("{job} cannot be compared: {error}")),
        }
        // The next one needs the space.
        let _ = fs::remove_dir_all(&plain);
    }
    differences
}

type Digests = BTreeMap<PathBuf, Digest>;

fn digests_of_plain_run(folder: &Path, part: &[PathBuf], output: &Path) -> io::Result<Digests> {
    fs::create_dir_all(output)?;
    part.iter().try_for_each(|file| one_file(folder, file, output))?;
    digests(output)
}

fn digests(root: &Path) -> io::Result<Digests> {
    let mut found = Digests::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inside) = open.pop() {
        for entry in fs::read_dir(root.join(&inside))? {
            let entry = entry?;
            let path = inside.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), Digest::of(&fs::read(root.join(&path))?));
            }
        }
    }
    Ok(found)
}

fn first_difference(plain: &Digests, published: &Digests) -> String {
    for (path, digest) in plain {
        match published.get(path) {
            None => return format!("{} is missing", path.display()),
            Some(other) if other != digest => return format!("{} has other bytes", path.display()),
            Some(_) => {}
        }
    }
    let more = published.keys().find(|path| !plain.contains_key(*path));
    more.map_or_else(|| "nothing".to_owned(), |path| format!("{} is too much", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_a_changed_and_an_extra_file_are_named() {
        let one = |name: &str, text: &str| (PathBuf::from(name), Digest::of(text.as_bytes()));
        let plain = Digests::from([one("a", "1"), one("b", "2")]);
        assert!(first_difference(&plain, &Digests::from([one("a", "1")])).contains("b is missing"));
        assert!(
            first_difference(&plain, &Digests::from([one("a", "x"), one("b", "2")]))
                .contains("a has other bytes")
        );
        let more = Digests::from([one("a", "1"), one("b", "2"), one("c", "3")]);
        assert!(first_difference(&plain, &more).contains("c is too much"));
    }
}
