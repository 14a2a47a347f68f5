//! What is there of a data folder's jobs beside rows, results and logs.

use std::fs;
use std::path::{Path, PathBuf};

use coordination::PoolState;
use durable::Listing;
use protocol::JobId;
use remora::DataFolder;

use crate::dev::Dev;
use crate::processes::{Found, of_folder};

/// What should be gone some time after the last job has ended.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Leases, reservations and unaccounted attempts: places in use.
    pub places: usize,
    /// Queue entries.
    pub queued: usize,
    /// Notices, progress, leases and reservations, by job.
    pub holdings: Vec<String>,
    /// Stages, apart from what the published result needs.
    pub stages: Vec<PathBuf>,
    /// Folders of attempts.
    pub work: Vec<PathBuf>,
    /// Programs of attempts.
    pub processes: Vec<Found>,
}

impl Leftovers {
    /// Everything that is there now.
    ///
    /// # Errors
    /// When a room gives no answer or a folder cannot be read.
    pub async fn find(dev: &Dev) -> anyhow::Result<Self> {
        let client = dev.client().await?;
        let pool: PoolState = client.coordination().pool().await?;
        let page = client.coordination().holdings(None, 500).await?;
        let folder = dev.data();
        Ok(Self {
            places: pool.leases + pool.reservations + pool.unaccounted,
            queued: pool.queued,
            holdings: page.jobs.iter().map(|holding| format!("{holding:?}")).collect(),
            stages: stages(&folder, client.durable().as_ref()).await?,
            work: attempts(&folder.work()),
            processes: of_folder(folder.root()),
        })
    }

    /// Whether nothing is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places == 0
            && self.queued == 0
            && self.holdings.is_empty()
            && self.stages.is_empty()
            && self.work.is_empty()
            && self.processes.is_empty()
    }
}

fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    listed.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect()
}

/// Folders of attempts in the folders of incarnations.
fn attempts(work: &Path) -> Vec<PathBuf> {
    let folders = entries(work).into_iter().flat_map(|(_, incarnation)| entries(&incarnation));
    folders.filter(|(name, _)| name != "lock").map(|(_, path)| path).collect()
}

/// Stages: of the one that was published only its `out` may be there.
async fn stages(folder: &DataFolder, listing: &dyn durable::DurableRoom) -> anyhow::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for (job, path) in entries(&folder.target()) {
        let published = match job.parse::<JobId>() {
            Ok(job) => Listing::job(listing, job).await?.and_then(|view| view.result),
            Err(_) => None,
        };
        let published = published.map(|result| format!("{}-{}", result.token, result.attempt));
        for (stage, path) in entries(&path) {
            if stage == "logs" {
                continue;
            }
            let of_result = published.as_deref() == Some(stage.as_str());
            left.extend(
                entries(&path)
                    .into_iter()
                    .filter(|(name, _)| !(of_result && name == "out"))
                    .map(|(_, path)| path),
            );
            if !of_result && entries(&path).is_empty() {
                left.push(path);
            }
        }
    }
    Ok(left)
}
