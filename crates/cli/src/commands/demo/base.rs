//! What the demo stands on: a data folder of its own, or a place of its own in the rooms of an installation.
//!
//! Promises to touch nothing of an installation but what it made there itself: a schema, a pool, a prefix.

use std::path::PathBuf;
use std::sync::Arc;

use agents::CleanerOptions;
use api::Api;
use remora::{Client, DataFolder};
use server::{Owner, OwnerOptions, SupervisorOptions};
use target::file::FileTarget;
use target::{StageId, Target};

use super::LEASE;
use crate::access::Site;
use crate::commands::dev::explain;
use crate::failure::Failure;

#[cfg(feature = "fleet")]
use super::rooms::Rooms;

enum Kept {
    Owner(Owner),
    #[cfg(feature = "fleet")]
    Rooms(Box<Rooms>),
}

/// See the module.
pub(super) struct Base {
    kept: Kept,
    pub(super) client: Client,
    pub(super) target: Arc<dyn Target>,
}

impl Base {
    pub(super) async fn start(
        site: &Site,
        data: &DataFolder,
        workers: SupervisorOptions,
    ) -> Result<Self, Failure> {
        #[cfg(feature = "fleet")]
        if let Some(urls) = &site.rooms {
            let rooms = Rooms::start(urls, data, workers).await?;
            let (client, target) = (rooms.client.clone(), Arc::clone(&rooms.target));
            return Ok(Self { kept: Kept::Rooms(Box::new(rooms)), client, target });
        }
        #[cfg(not(feature = "fleet"))]
        site.folder_only("demo")?;
        let owner = Owner::start(OwnerOptions {
            folder: data.clone(),
            lease: Some(LEASE),
            workers,
            events: true,
            scraped: false,
            cleaner: CleanerOptions::default(),
        })
        .await
        .map_err(explain)?;
        let client = Client::connect(data.root(), "demo").await?;
        Ok(Self { kept: Kept::Owner(owner), client, target: Arc::new(FileTarget::new(data.target())) })
    }

    /// `LoseCoordinationState`.
    pub(super) async fn lose_coordination(&self) -> Result<(), Failure> {
        match &self.kept {
            Kept::Owner(owner) => owner.lose_coordination(),
            #[cfg(feature = "fleet")]
            Kept::Rooms(rooms) => rooms.lose_coordination().await?,
        }
        Ok(())
    }

    /// Stops everything.
    pub(super) async fn shutdown(self) -> Stopped {
        match self.kept {
            Kept::Owner(owner) => {
                owner.shutdown().await;
                Stopped {
                    #[cfg(feature = "fleet")]
                    left: None,
                }
            }
            #[cfg(feature = "fleet")]
            Kept::Rooms(rooms) => Stopped { left: Some(rooms.shutdown().await) },
        }
    }
}

/// What was made in an installation and is still there.
pub(super) struct Stopped {
    #[cfg(feature = "fleet")]
    left: Option<super::rooms::Left>,
}

impl Stopped {
    /// Where what was done can be looked at.
    pub(super) fn place(&self, data: &DataFolder) -> String {
        #[cfg(feature = "fleet")]
        if let Some(left) = &self.left {
            return left.place();
        }
        data.root().display().to_string()
    }

    /// Removes it.
    pub(super) async fn remove(self, views: &[durable::JobView]) -> Result<(), Failure> {
        #[cfg(feature = "fleet")]
        if let Some(left) = self.left {
            return left.remove(views).await;
        }
        let _ = views;
        Ok(())
    }
}

/// The folder of every job's published result: its own, or a copy.
pub(super) async fn published(
    api: &dyn Api,
    target: &dyn Target,
    views: &[durable::JobView],
    copies: &std::path::Path,
) -> Result<Vec<Option<PathBuf>>, Failure> {
    let mut folders = Vec::new();
    for view in views {
        let Some(result) = &view.result else {
            folders.push(None);
            continue;
        };
        let stage = StageId { job: result.job, token: result.token, attempt: result.attempt };
        folders.push(Some(match target.local_result(&stage) {
            Some(folder) => folder,
            None => {
                let copy = copies.join(result.job.to_string());
                crate::commands::result::copy(api, result.job, &copy).await?;
                copy
            }
        }));
    }
    Ok(folders)
}
