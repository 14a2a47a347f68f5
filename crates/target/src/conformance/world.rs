//! What a case works with: an empty room, a local folder, and short words for an attempt's writing.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use protocol::{AttemptId, JobId, Token, id};

use crate::{Digest, Entry, Manifest, Node, Part, StageId, Target, TargetFault};

/// What an adapter brings to the suite.
pub trait Fixture: Send + Sync {
    /// The room: empty.
    fn target(&self) -> Arc<dyn Target>;

    /// An empty folder of this machine, which lives as long as the fixture.
    fn local(&self) -> PathBuf;

    /// The bytes under a key, behind the port's back.
    fn peek(&self, key: &str) -> Option<Vec<u8>>;

    /// Puts other bytes under a key, or takes it away, behind the port's back.
    fn change(&self, key: &str, bytes: Option<&[u8]>);

    /// All keys that begin with this prefix and a `/`; where there are folders, empty ones by their name and a
    /// `/` at the end.
    fn keys(&self, prefix: &str) -> BTreeSet<String>;

    /// Whether results lie in folders of this machine.
    fn results_are_local(&self) -> bool;

    /// Makes what was written to the stage older than it is.
    fn make_older(&self, stage: &StageId, by: Duration);
}

/// A case's surroundings.
pub struct World {
    /// The adapter's part.
    pub fixture: Arc<dyn Fixture>,
    /// The room under test.
    pub target: Arc<dyn Target>,
    next: AtomicU64,
}

impl World {
    /// A world over a fixture.
    #[must_use]
    pub fn new(fixture: Arc<dyn Fixture>) -> Self {
        Self { target: fixture.target(), fixture, next: AtomicU64::new(1) }
    }

    /// A number that was not given before.
    pub fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The first attempt's stage of a new job.
    pub fn stage(&self) -> StageId {
        let job = JobId(id::v7(self.number(), 5));
        StageId { job, token: Token(1), attempt: AttemptId(id::v7(self.number(), 6)) }
    }

    /// The stage of the next attempt of the same job.
    pub fn next_stage(&self, stage: &StageId) -> StageId {
        let attempt = AttemptId(id::v7(self.number(), 6));
        StageId { token: Token(stage.token.0 + 1), attempt, ..*stage }
    }

    /// A local file with these bytes.
    pub fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.place();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A local name that nothing has.
    pub fn place(&self) -> PathBuf {
        self.fixture.local().join(format!("local-{}", self.number()))
    }

    /// Seals a local file with these bytes.
    pub async fn seal(&self, stage: &StageId, number: u64, bytes: &[u8]) -> Part {
        self.target.seal_file(stage, number, &self.file(bytes), false).await.unwrap()
    }

    /// The bytes of a file's parts, fetched.
    pub async fn fetched(&self, parts: &[Part]) -> Vec<u8> {
        let to = self.place();
        self.target.fetch(parts, &to, false).await.unwrap();
        std::fs::read(to).unwrap()
    }

    /// The folder of a result, which is there exactly where the adapter says so.
    pub fn local_result(&self, stage: &StageId) -> Option<PathBuf> {
        let result = self.target.local_result(stage);
        assert_eq!(result.is_some(), self.fixture.results_are_local());
        result
    }

    /// All keys of a stage.
    pub fn keys(&self, stage: &StageId) -> BTreeSet<String> {
        self.fixture.keys(&stage.prefix())
    }
}

/// The ways in which a part goes bad, each with what then lies under its key.
pub fn damages(bytes: &[u8]) -> Vec<(&'static str, Option<Vec<u8>>)> {
    let mut flipped = bytes.to_vec();
    flipped[bytes.len() / 2] ^= 1;
    vec![
        ("a flipped byte", Some(flipped)),
        ("cut", Some(bytes[..bytes.len() - 1].to_vec())),
        ("longer", Some([bytes, b"x"].concat())),
        ("empty", Some(Vec::new())),
        ("missing", None),
    ]
}

/// A part that nobody sealed.
#[must_use]
pub fn part(key: &str, bytes: &[u8]) -> Part {
    Part { key: key.to_owned(), length: u64::try_from(bytes.len()).unwrap(), digest: Digest::of(bytes) }
}

/// A file of a manifest.
#[must_use]
pub fn entry(path: &str, parts: &[&Part], executable: bool) -> Entry {
    let parts = parts.iter().copied().cloned().collect();
    Entry { path: path.to_owned(), node: Node::File { parts, executable } }
}

/// A folder of a manifest.
#[must_use]
pub fn folder(path: &str) -> Entry {
    Entry { path: path.to_owned(), node: Node::Folder }
}

/// A link of a manifest.
#[must_use]
pub fn link(path: &str, to: &str) -> Entry {
    Entry { path: path.to_owned(), node: Node::Link { to: to.to_owned() } }
}

/// A manifest, in order.
#[must_use]
pub fn manifest(entries: impl IntoIterator<Item = Entry>) -> Manifest {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_by(|one, two| one.path.cmp(&two.path));
    Manifest { entries }
}

/// Whether a local file is executable.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o100 != 0
}

/// That the data was found to be bad, and not the room to be out of reach.
#[track_caller]
pub fn bad<T: std::fmt::Debug>(answer: Result<T, TargetFault>, why: &str) -> String {
    let fault = answer.expect_err(why);
    assert!(fault.bad_data && !fault.out_of_space(), "{why}: {fault}");
    fault.to_string()
}

/// Keys that no part has: they lead out of the room, or into it by a detour.
pub const WAYS_OUT: [&str; 7] = ["../outside", "/outside", "a/../../outside", "..", "", "a//b", "a/./b"];
