//! Copying a whole result to a folder.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use api::Api;
use api::v1::{EntryKind, ResultEntry};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use protocol::JobId;

use super::entries;
use crate::access::problem;
use crate::failure::{Failure, code};

/// Up to this, many files are fetched at once.
const LIGHT: u64 = 1 << 20;
const LIGHT_AT_ONCE: usize = 32;
/// Each of these takes memory, and has several requests of its own.
const HEAVY_AT_ONCE: usize = 2;

/// A file that is to be fetched.
struct Wanted {
    entry: ResultEntry,
    path: PathBuf,
}

/// Copies everything, checking every digest. The folder must be empty or new: nothing is written over.
pub(super) async fn whole(api: &dyn Api, job: JobId, to: &Path) -> Result<(), Failure> {
    if to.exists() && (!to.is_dir() || fs::read_dir(to)?.next().is_some()) {
        return Err(Failure::new(code::REFUSED, format!("{} is not empty", to.display()))
            .hint("name an empty folder or a new one: nothing is written over"));
    }
    let entries = entries(api, job).await?;
    fs::create_dir_all(to)?;
    let (mut light, mut heavy, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        let path = inside(to, &entry.path)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        match entry.kind {
            EntryKind::File if entry.bytes > Some(LIGHT) => heavy.push(Wanted { entry, path }),
            EntryKind::File => light.push(Wanted { entry, path }),
            EntryKind::Folder => fs::create_dir_all(&path)?,
            EntryKind::Link => links.push((entry.to.unwrap_or_default(), path)),
        }
    }
    all(api, job, light, LIGHT_AT_ONCE).await?;
    all(api, job, heavy, HEAVY_AT_ONCE).await?;
    // Last: nothing is written through them.
    links.iter().try_for_each(|(to, path)| symlink(to, path))?;
    Ok(())
}

/// Where an entry goes. A server is not trusted to name a place elsewhere.
fn inside(to: &Path, path: &str) -> Result<PathBuf, Failure> {
    if path.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err(Failure::new(code::FAILED, format!("the path {path:?} is not one of a result")));
    }
    Ok(to.join(path))
}

/// Fetches files, several at once; the first that fails ends it.
async fn all(api: &dyn Api, job: JobId, files: Vec<Wanted>, at_once: usize) -> Result<(), Failure> {
    let fetching = stream::iter(files).map(|file| async move { fetch(api, job, &file).await });
    fetching.buffer_unordered(at_once).try_collect().await
}

async fn fetch(api: &dyn Api, job: JobId, wanted: &Wanted) -> Result<(), Failure> {
    let name = &wanted.entry.path;
    let mut body = api.result_file(job, name, 0..u64::MAX).await.map_err(problem)?;
    let mut file = File::create_new(&wanted.path)?;
    let (mut digest, mut length) = (blake3::Hasher::new(), 0);
    while let Some(piece) = body.bytes.next().await {
        let piece = piece.map_err(problem)?;
        digest.update(&piece);
        length += u64::try_from(piece.len())?;
        file.write_all(&piece)?;
    }
    let right =
        wanted.entry.blake3.as_deref().is_none_or(|right| digest.finalize().to_hex().as_str() == right);
    if !right || wanted.entry.bytes.is_some_and(|right| right != length) {
        let text =
            format!("{name:?} in the result of {job} is not what was published: its digest is another one");
        return Err(Failure::new(code::FAILED, text));
    }
    if wanted.entry.executable {
        file.set_permissions(Permissions::from_mode(0o755))?;
    }
    Ok(())
}
