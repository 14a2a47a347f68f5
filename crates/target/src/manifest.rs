//! A list of immutable parts that make up an output.

use std::collections::BTreeSet;
use std::fmt;

use protocol::limit;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use thiserror::Error;

/// A BLAKE3 digest; 64 hexadecimal digits in text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = blake3::Hash::from_hex(text.as_bytes()).map_err(D::Error::custom)?;
        Ok(Self(*hash.as_bytes()))
    }
}

/// An immutable piece of output under its attempt's prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Part {
    /// Where it lies: generated, never a user's name.
    pub key: String,
    /// Its length in bytes.
    pub length: u64,
    /// Its digest.
    pub digest: Digest,
}

impl Part {
    /// A part as a durable row names it.
    #[must_use]
    pub fn stored(key: &str, length: u64, digest: [u8; 32]) -> Self {
        Self { key: key.to_owned(), length, digest: Digest(digest) }
    }
}

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Node {
    /// A file: its parts one after another.
    File {
        /// In order; none for an empty file.
        parts: Vec<Part>,
        /// The executable bit.
        executable: bool,
    },
    /// A folder, named so that empty ones are kept.
    Folder,
    /// A symbolic link that stays inside the output.
    Link {
        /// Where it points, as written.
        to: String,
    },
}

/// A name and what stands under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Relative to the output, `/` between names.
    pub path: String,
    /// What it is.
    #[serde(flatten)]
    pub node: Node,
}

/// The newest form of a manifest that this program reads. What is only added, and may be missing, keeps the number; a
/// program that writes what older ones would misread writes a higher one, as `form`. The first form names none.
pub const MANIFEST_FORM: u32 = 1;

/// An output, or the output so far: entries in the order of their paths, folders before what is in them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// What every form of a manifest says of itself.
#[derive(Deserialize)]
struct Formed {
    #[serde(default)]
    form: u32,
}

/// A manifest that cannot be used.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// Written by a newer program: whole, and not for this one.
    #[error("the manifest is of form {0}; this program reads forms up to {MANIFEST_FORM}")]
    Newer(u32),
    /// Not the JSON of a manifest.
    #[error("read the manifest")]
    Syntax(#[from] serde_json::Error),
    /// A path that leads out of the output or is not in order.
    #[error("the manifest has the path {0:?}, which is not allowed there")]
    Path(String),
    /// Over the limit.
    #[error("the output has {0} entries; allowed are at most {max}", max = limit::RESULT_FILES)]
    TooMany(usize),
}

impl Manifest {
    /// The bytes that are stored; the same manifest gives the same bytes.
    ///
    /// # Errors
    /// When there are more entries than allowed.
    pub fn encode(&self) -> Result<Vec<u8>, ManifestError> {
        self.check()?;
        Ok(serde_json::to_vec(self)?)
    }

    /// Reads stored bytes back.
    ///
    /// # Errors
    /// When they are no manifest, one of a newer form, or one that would write outside of an output.
    pub fn decode(bytes: &[u8]) -> Result<Self, ManifestError> {
        let Formed { form } = serde_json::from_slice(bytes)?;
        if form > MANIFEST_FORM {
            return Err(ManifestError::Newer(form));
        }
        let manifest: Self = serde_json::from_slice(bytes)?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), ManifestError> {
        if self.entries.len() > usize::try_from(limit::RESULT_FILES).unwrap_or(usize::MAX) {
            return Err(ManifestError::TooMany(self.entries.len()));
        }
        self.check_paths()
    }

    /// That all of it lies inside of an output, each under a name of its own.
    pub(crate) fn check_paths(&self) -> Result<(), ManifestError> {
        let mut before: Option<&str> = None;
        for entry in &self.entries {
            let bad = entry.path.split('/').any(|name| matches!(name, "" | "." | ".."));
            if bad || before.is_some_and(|before| before >= entry.path.as_str()) {
                return Err(ManifestError::Path(entry.path.clone()));
            }
            before = Some(&entry.path);
        }
        match self.entries.iter().find(|entry| self.stands_on_a_leaf(&entry.path)) {
            Some(entry) => Err(ManifestError::Path(entry.path.clone())),
            None => Ok(()),
        }
    }

    /// Whether a name above this path is a file or a link: what is below it would be written elsewhere, or not
    /// at all.
    fn stands_on_a_leaf(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        above.into_iter().any(|above| {
            let found = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(above));
            found.is_ok_and(|place| !matches!(self.entries[place].node, Node::Folder))
        })
    }

    /// All parts.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.entries.iter().flat_map(|entry| match &entry.node {
            Node::File { parts, .. } => parts.as_slice(),
            Node::Folder | Node::Link { .. } => &[],
        })
    }

    /// The keys of all parts.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<String> {
        self.parts().map(|part| part.key.clone()).collect()
    }

    /// How many files there are.
    #[must_use]
    pub fn files(&self) -> u64 {
        let files = self.entries.iter().filter(|entry| matches!(entry.node, Node::File { .. })).count();
        u64::try_from(files).unwrap_or(u64::MAX)
    }

    /// The bytes in all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.parts().map(|part| part.length).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Entry {
        let part = Part { key: "k".into(), length: 3, digest: Digest::of(b"abc") };
        Entry { path: path.into(), node: Node::File { parts: vec![part], executable: false } }
    }

    #[test]
    fn a_manifest_reads_back_from_its_bytes() {
        let link = Entry { path: "b".into(), node: Node::Link { to: "a".into() } };
        let folder = Entry { path: "c".into(), node: Node::Folder };
        let manifest = Manifest { entries: vec![file("a"), link, folder] };
        let bytes = manifest.encode().unwrap();
        assert_eq!(Manifest::decode(&bytes).unwrap(), manifest);
        assert_eq!((manifest.files(), manifest.bytes(), manifest.keys().len()), (1, 3, 1));
    }

    /// As the first version stored it.
    const FIRST: &str = r#"{"entries":[{"path":"a","type":"file","parts":[{"key":"k","length":3,"digest":"6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"}],"executable":false},{"path":"b","type":"link","to":"a"},{"path":"c","type":"folder"}]}"#;

    #[test]
    fn d5_what_the_first_version_stored_is_read_and_written_byte_for_byte() {
        let manifest = Manifest::decode(FIRST.as_bytes()).unwrap();
        let link = Entry { path: "b".into(), node: Node::Link { to: "a".into() } };
        let folder = Entry { path: "c".into(), node: Node::Folder };
        assert_eq!(manifest, Manifest { entries: vec![file("a"), link, folder] });
        assert_eq!(manifest.encode().unwrap(), FIRST.as_bytes());
    }

    #[test]
    fn d5_what_a_newer_version_adds_is_read_and_what_it_changes_is_told_by_its_form() {
        let added = FIRST
            .replacen('{', r#"{"form":1,"made_by":{"version":"9"},"#, 1)
            .replace("\"k\",", "\"k\",\"zone\":1,");
        assert_eq!(Manifest::decode(added.as_bytes()).unwrap(), Manifest::decode(FIRST.as_bytes()).unwrap());
        let changed = r#"{"form":2,"entries":[{"path":"a","type":"sparse","holes":[]}]}"#;
        let error = Manifest::decode(changed.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "the manifest is of form 2; this program reads forms up to 1");
    }

    #[test]
    fn a_path_that_leads_out_or_stands_twice_is_refused() {
        for paths in [&["../a"][..], &["/a"], &["a/./b"], &[""], &["a/"], &["b", "a"], &["a", "a"]] {
            let manifest = Manifest { entries: paths.iter().map(|path| file(path)).collect() };
            let error = manifest.encode().unwrap_err().to_string();
            assert!(error.contains("not allowed"), "{paths:?}: {error}");
        }
    }

    #[test]
    fn a_path_below_a_file_or_a_link_is_refused_and_one_below_a_folder_is_not() {
        let below = |node| {
            let above = Entry { path: "a".into(), node };
            Manifest { entries: vec![above, file("a-b"), file("a/c/d")] }.encode()
        };
        assert!(below(Node::Folder).is_ok());
        for leaf in [Node::Link { to: "b".into() }, file("a").node] {
            assert!(below(leaf).unwrap_err().to_string().contains("\"a/c/d\""));
        }
    }

    #[test]
    fn bytes_that_are_no_manifest_are_refused() {
        assert!(Manifest::decode(b"{").is_err());
        let bad_digest = br#"{"entries":[{"path":"a","type":"file","executable":false,"parts":[{"key":"k","length":1,"digest":"00"}]}]}"#;
        assert!(Manifest::decode(bad_digest).is_err());
    }
}
