//! The target in memory.
//!
//! Promises: what the conformance suite asks of every target. Does not outlive its process.
//! The spec speaks of it as `stageState`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use protocol::{TargetId, limit};
use target::{
    Depth, Digest, Entry, LogReader, LogSink, Manifest, Node, Part, ResultFile, StageId, Sweep, Target,
    TargetFault, marker,
};

/// What lies under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    /// A part, or a file of a result.
    Bytes(Vec<u8>, bool),
    /// A folder of a result.
    Folder,
    /// A link of a result.
    Link(String),
}

#[derive(Default)]
struct Shelf {
    things: BTreeMap<String, Thing>,
    /// When each stage was written last.
    written: BTreeMap<StageId, Duration>,
    logs: BTreeMap<StageId, Log>,
}

/// The room's clock.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// See the module.
pub struct MemoryTarget {
    shelf: Arc<Mutex<Shelf>>,
    clock: Clock,
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

/// That a key stays inside of the room.
fn inside(key: &str) -> Result<(), TargetFault> {
    if key.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err(TargetFault::bad(format!("the key {key:?} leads out of the target")));
    }
    Ok(())
}

impl Shelf {
    fn part(&self, part: &Part, digest: bool) -> Result<&[u8], TargetFault> {
        inside(&part.key)?;
        let bad = |what: &str| TargetFault::bad(format!("the part {} is {what}", part.key));
        let Some(Thing::Bytes(bytes, _)) = self.things.get(&part.key) else { return Err(bad("missing")) };
        if u64::try_from(bytes.len()).ok() != Some(part.length) {
            return Err(bad("of another length"));
        }
        if digest && Digest::of(bytes) != part.digest {
            return Err(bad("of another digest"));
        }
        Ok(bytes)
    }

    fn under(&self, prefix: &str) -> Vec<String> {
        let prefix = format!("{prefix}/");
        let from = self.things.range(prefix.clone()..).map(|(key, _)| key);
        from.take_while(|key| key.starts_with(&prefix)).cloned().collect()
    }

    fn lay_entry(&self, entry: &Entry, key: &str) -> Result<(Node, Thing), TargetFault> {
        Ok(match &entry.node {
            Node::Folder => (Node::Folder, Thing::Folder),
            Node::Link { to } => (entry.node.clone(), Thing::Link(to.clone())),
            Node::File { parts, executable } => {
                let mut bytes = Vec::new();
                for part in parts {
                    bytes.extend_from_slice(self.part(part, false)?);
                }
                let own = Part {
                    key: key.to_owned(),
                    length: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                    digest: Digest::of(&bytes),
                };
                let parts = if parts.is_empty() { Vec::new() } else { vec![own] };
                (Node::File { parts, executable: *executable }, Thing::Bytes(bytes, *executable))
            }
        })
    }
}

impl MemoryTarget {
    /// An empty room.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { shelf: Arc::default(), clock }
    }

    /// All keys, logs apart.
    #[must_use]
    pub fn keys(&self) -> BTreeSet<String> {
        lock(&self.shelf).things.keys().cloned().collect()
    }

    /// What is kept of each log, by its key.
    #[must_use]
    pub fn logs(&self) -> BTreeMap<String, Vec<u8>> {
        let key = |stage: &StageId| format!("{}/logs/{}", stage.job, stage.name());
        let kept = |log: &Log| [log.head.as_slice(), log.tail.as_slice()].concat();
        lock(&self.shelf).logs.iter().map(|(stage, log)| (key(stage), kept(log))).collect()
    }

    /// What lies under a key.
    #[must_use]
    pub fn peek(&self, key: &str) -> Option<Thing> {
        lock(&self.shelf).things.get(key).cloned()
    }

    /// Puts something under a key, or takes it away.
    pub fn change(&self, key: &str, thing: Option<Thing>) {
        let mut shelf = lock(&self.shelf);
        match thing {
            Some(thing) => shelf.things.insert(key.to_owned(), thing),
            None => shelf.things.remove(key),
        };
    }

    /// Makes what was written to the stage older than it is.
    pub fn make_older(&self, stage: &StageId, by: Duration) {
        if let Some(at) = lock(&self.shelf).written.get_mut(stage) {
            *at = at.saturating_sub(by);
        }
    }

    fn put(&self, stage: &StageId, number: u64, (bytes, executable): (Vec<u8>, bool)) -> Part {
        let key = format!("{}/p/{number:06}", stage.prefix());
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let part = Part { key: key.clone(), length, digest: Digest::of(&bytes) };
        let mut shelf = lock(&self.shelf);
        shelf.things.insert(key, Thing::Bytes(bytes, executable));
        shelf.written.insert(*stage, (self.clock)());
        part
    }
}

#[async_trait]
impl Target for MemoryTarget {
    async fn seal_file(
        &self,
        stage: &StageId,
        number: u64,
        source: &Path,
        executable: bool,
    ) -> Result<Part, TargetFault> {
        let bytes = std::fs::read(source)
            .map_err(|error| TargetFault::new(format!("read {}", source.display()), error))?;
        Ok(self.put(stage, number, (bytes, executable)))
    }

    async fn seal_bytes(&self, stage: &StageId, number: u64, bytes: Vec<u8>) -> Result<Part, TargetFault> {
        Ok(self.put(stage, number, (bytes, false)))
    }

    async fn settle(&self, _: &StageId) -> Result<(), TargetFault> {
        Ok(())
    }

    async fn verify(&self, parts: &[Part], depth: Depth) -> Result<(), TargetFault> {
        let shelf = lock(&self.shelf);
        let digest = |part: &Part| match depth {
            Depth::All => true,
            Depth::UpTo(bytes) => part.length <= bytes,
        };
        parts.iter().try_for_each(|part| shelf.part(part, digest(part)).map(drop))
    }

    async fn fetch(&self, parts: &[Part], to: &Path, executable: bool) -> Result<(), TargetFault> {
        use std::os::unix::fs::PermissionsExt;
        let mut bytes = Vec::new();
        {
            let shelf = lock(&self.shelf);
            for part in parts {
                bytes.extend_from_slice(shelf.part(part, true)?);
            }
        }
        let gone = match std::fs::remove_file(to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        let mode = std::fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 });
        gone.and_then(|()| std::fs::write(to, bytes))
            .and_then(|()| std::fs::set_permissions(to, mode))
            .map_err(|error| TargetFault::new(format!("write {}", to.display()), error))
    }

    async fn read(&self, part: &Part) -> Result<Vec<u8>, TargetFault> {
        lock(&self.shelf).part(part, true).map(<[u8]>::to_vec)
    }

    async fn lay_out(&self, stage: &StageId, manifest: &Manifest) -> Result<Manifest, TargetFault> {
        manifest.encode().map_err(|error| TargetFault::bad(format!("lay out a result: {error}")))?;
        let mut shelf = lock(&self.shelf);
        let out = format!("{}/out", stage.prefix());
        for key in shelf.under(&out) {
            shelf.things.remove(&key);
        }
        let mut laid = Manifest::default();
        for entry in &manifest.entries {
            let key = format!("{out}/{}", entry.path);
            let (node, thing) = shelf.lay_entry(entry, &key)?;
            laid.entries.push(Entry { path: entry.path.clone(), node });
            shelf.things.insert(key, thing);
        }
        shelf.written.insert(*stage, (self.clock)());
        Ok(laid)
    }

    async fn discard(&self, keys: &BTreeSet<String>) -> Result<(), TargetFault> {
        keys.iter().try_for_each(|key| inside(key))?;
        let mut shelf = lock(&self.shelf);
        for key in keys {
            shelf.things.remove(key);
        }
        Ok(())
    }

    async fn sweep(&self, stage: &StageId, keep: &BTreeSet<String>) -> Result<Sweep, TargetFault> {
        let mut shelf = lock(&self.shelf);
        let prefix = stage.prefix();
        let mut sweep = Sweep::default();
        let mut kept = BTreeSet::new();
        for key in shelf.under(&prefix) {
            let above = key
                .match_indices('/')
                .map(|(end, _)| &key[..end])
                .find(|above| above.len() > prefix.len() && keep.contains(*above));
            if let Some(kept_as) = above.map(str::to_owned).or_else(|| keep.get(&key).cloned()) {
                kept.insert(kept_as);
            } else {
                shelf.things.remove(&key);
                sweep.deleted += 1;
            }
        }
        sweep.kept = u64::try_from(kept.len()).unwrap_or(u64::MAX);
        if kept.is_empty() {
            shelf.written.remove(stage);
        }
        Ok(sweep)
    }

    async fn old_stages(&self, age: Duration) -> Result<Vec<StageId>, TargetFault> {
        let now = (self.clock)();
        let shelf = lock(&self.shelf);
        let old = shelf.written.iter().filter(|(_, at)| now.saturating_sub(**at) > age);
        Ok(old.map(|(stage, _)| *stage).collect())
    }

    async fn open_log(&self, stage: &StageId) -> Result<Box<dyn LogSink>, TargetFault> {
        Ok(Box::new(MemoryLog { shelf: Arc::clone(&self.shelf), stage: *stage }))
    }

    fn read_log(&self, stage: &StageId) -> Box<dyn LogReader> {
        Box::new(MemoryLogReader { shelf: Arc::clone(&self.shelf), stage: *stage, at: 0 })
    }

    async fn open_result(
        &self,
        stage: &StageId,
        path: &str,
        range: Range<u64>,
    ) -> Result<Box<dyn ResultFile>, TargetFault> {
        inside(path)?;
        let key = format!("{}/out/{path}", stage.prefix());
        let Some(Thing::Bytes(bytes, _)) = self.peek(&key) else {
            return Err(TargetFault::bad(format!("{path:?} is no file of the result")));
        };
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let (from, to) = (place(range.start), place(range.end));
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let rest = Bytes::copy_from_slice(&bytes[from.min(to)..to]);
        Ok(Box::new(MemoryFile { length, rest }))
    }

    async fn identity(&self, offered: Option<TargetId>) -> Result<Option<TargetId>, TargetFault> {
        let mut shelf = lock(&self.shelf);
        if let (false, Some(offered)) = (shelf.things.contains_key(marker::KEY), offered) {
            let bytes = marker::text(offered).into_bytes();
            shelf.things.insert(marker::KEY.to_owned(), Thing::Bytes(bytes, false));
        }
        match shelf.things.get(marker::KEY) {
            Some(Thing::Bytes(bytes, _)) => marker::read(bytes, marker::KEY).map(Some),
            _ => Ok(None),
        }
    }

    fn local_result(&self, _: &StageId) -> Option<PathBuf> {
        None
    }
}

/// The largest piece of a result that is given at once.
const PIECE: usize = 8 * 1024 * 1024;

struct MemoryFile {
    length: u64,
    rest: Bytes,
}

#[async_trait]
impl ResultFile for MemoryFile {
    fn length(&self) -> u64 {
        self.length
    }

    async fn next(&mut self) -> Result<Option<Bytes>, TargetFault> {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        Ok((!piece.is_empty()).then_some(piece))
    }
}

/// A log: what it began with, and the newest of the rest.
#[derive(Default)]
struct Log {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// All bytes that were appended.
    appended: usize,
}

/// Bytes kept of a log's beginning, and as many of its end.
const HALF: u64 = limit::LOG_BYTES / 2;

impl Log {
    fn half() -> usize {
        usize::try_from(HALF).unwrap_or(usize::MAX)
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = (Self::half() - self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend_from_slice(&bytes[room..]);
        let over = self.tail.len().saturating_sub(Self::half());
        self.tail.drain(..over);
        self.appended += bytes.len();
    }

    /// What came after so many bytes, with a mark where something was cut away.
    fn since(&self, at: usize) -> Vec<u8> {
        let begins = self.appended - self.tail.len();
        let mut text = self.head.get(at..).unwrap_or_default().to_vec();
        let cut = begins.saturating_sub(at.max(self.head.len()));
        if cut > 0 {
            text.extend_from_slice(format!("\n[… {cut} bytes of this log were cut …]\n").as_bytes());
        }
        text.extend_from_slice(self.tail.get(at.saturating_sub(begins)..).unwrap_or_default());
        text
    }
}

struct MemoryLog {
    shelf: Arc<Mutex<Shelf>>,
    stage: StageId,
}

#[async_trait]
impl LogSink for MemoryLog {
    fn append(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            lock(&self.shelf).logs.entry(self.stage).or_default().append(bytes);
        }
    }

    async fn flush(&mut self) {}
}

struct MemoryLogReader {
    shelf: Arc<Mutex<Shelf>>,
    stage: StageId,
    at: usize,
}

#[async_trait]
impl LogReader for MemoryLogReader {
    async fn read_more(&mut self) -> io::Result<Vec<u8>> {
        let shelf = lock(&self.shelf);
        let Some(log) = shelf.logs.get(&self.stage) else { return Ok(Vec::new()) };
        let text = log.since(self.at);
        self.at = log.appended;
        Ok(text)
    }
}
