//! Reads recorded events, file by file.
//!
//! Promises: a writer's files in their order, those of workers before those of owners; a last line that its writer
//! did not finish is counted and left out; any other line that is no event is an error with its place. A trace that
//! is still being written is read as far as it went when its files were found, the owners' looked at last: so
//! what is missing at the end is what a killed worker's record would lack, too.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use model::audit::Source;
use remora::EVENTS_END as LAST_LINE;
use serde::Deserialize;
use serde::de::DeserializeOwned;

const OWNER: &str = "owner";
/// The version of the format that is read; a file without a first line that names one is of this version, too.
const VERSION: u64 = 1;
const BUFFER: usize = 256 * 1024;

/// The first line of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    remora_events: u64,
}

/// The files of a trace.
pub(crate) struct Files {
    files: Vec<Found>,
    rotated: u64,
}

struct Found {
    path: PathBuf,
    source: Source,
    bytes: u64,
    /// The newest file of its writer.
    last: bool,
}

impl Files {
    /// Finds the files of events in data folders, or in folders of files themselves.
    pub(crate) fn find(folders: &[PathBuf]) -> anyhow::Result<Self> {
        let mut writers: BTreeMap<(bool, usize, String), Vec<(u64, PathBuf)>> = BTreeMap::new();
        for (number, folder) in folders.iter().enumerate() {
            let found = find(folder)?;
            // Folders without an owner are those of machines that share an installation's rooms.
            let owned = found.iter().any(|(name, _, _)| name == OWNER);
            let pool = if owned { number + 1 } else { 0 };
            for (name, segment, path) in found {
                writers.entry((name == OWNER, pool, name)).or_default().push((segment, path));
            }
        }
        let mut files = Vec::new();
        let mut rotated = 0;
        for ((owner, pool, _), mut segments) in writers {
            segments.sort_unstable();
            rotated += u64::from(segments.first().is_some_and(|(number, _)| *number > 0));
            let newest = segments.last().map(|(number, _)| *number);
            for (segment, path) in segments {
                let bytes = fs::metadata(&path).with_context(|| format!("look at {}", path.display()))?.len();
                let source = Source { pool, segment, owner };
                files.push(Found { path, source, bytes, last: Some(segment) == newest });
            }
        }
        Ok(Self { files, rotated })
    }

    /// Writers whose first files are gone.
    pub(crate) fn rotated(&self) -> u64 {
        self.rotated
    }

    /// Hands out every line.
    pub(crate) fn each<T: DeserializeOwned>(&self, mut take: impl FnMut(T, Source)) -> anyhow::Result<Ends> {
        let mut ends = Ends::default();
        for found in &self.files {
            let end = read(found, |event| take(event, found.source))?;
            ends.cut_lines += u64::from(end == End::InALine);
            if found.last && end != End::Whole {
                ends.cut.push(found.source.pool);
            }
        }
        Ok(ends)
    }
}

/// How the files ended.
#[derive(Default)]
pub(crate) struct Ends {
    /// Last lines that their writer did not finish.
    pub(crate) cut_lines: u64,
    /// Pools of writers that did not end their last file, one each.
    pub(crate) cut: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// With the line that ends a file.
    Whole,
    Between,
    InALine,
}

fn find(folder: &Path) -> anyhow::Result<Vec<(String, u64, PathBuf)>> {
    let inside = folder.join("events");
    let folder = if inside.is_dir() { &inside } else { folder };
    let entries = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        found.extend(name_and_number(&path).map(|(name, number)| (name, number, path)));
    }
    Ok(found)
}

/// `worker-wrk_….-000003.jsonl`: the writer, and which of its files.
fn name_and_number(path: &Path) -> Option<(String, u64)> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let (name, number) = stem.rsplit_once('-')?;
    Some((name.to_owned(), number.parse().ok()?))
}

fn read<T: DeserializeOwned>(found: &Found, mut take: impl FnMut(T)) -> anyhow::Result<End> {
    let path = &found.path;
    let file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    let mut reader = BufReader::with_capacity(BUFFER, file.take(found.bytes));
    let mut line = Vec::with_capacity(1024);
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).with_context(|| format!("read {}", path.display()))? == 0 {
            return Ok(End::Between);
        }
        let whole = line.last() == Some(&b'\n');
        if number == 1
            && let Ok(header) = serde_json::from_slice::<Header>(&line)
        {
            if header.remora_events != VERSION {
                bail!(
                    "{} holds events of version {}; this remora reads version {VERSION}",
                    path.display(),
                    header.remora_events
                );
            }
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(event) => take(event),
            Err(_) if line == LAST_LINE => return Ok(End::Whole),
            Err(_) if !whole => return Ok(End::InALine),
            Err(error) => bail!("line {number} of {} is no event: {error}", path.display()),
        }
    }
    Ok(End::Between)
}
