//! Reaching a data folder: its owner, or the store itself where there is no owner (protocol §7).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use durable::{DurableReads, Listing};
use remora::{Client, DataFolder};
use wire::client::ConnectError;

use crate::failure::{Failure, code};

/// Who answers reading commands.
pub(crate) enum Readers {
    /// The living owner.
    Owner(Client),
    /// The store, read only.
    #[cfg(feature = "embedded")]
    Store(Box<durable::sqlite::SqliteReads>),
}

impl Readers {
    pub(crate) async fn open(dir: &Path) -> Result<Self, Failure> {
        match connect(dir).await? {
            Some(client) => Ok(Self::Owner(client)),
            #[cfg(feature = "embedded")]
            None => match server::read_only(&DataFolder::new(dir)) {
                Ok(reads) => Ok(Self::Store(Box::new(reads))),
                Err(error) => Err(Failure::from(error).hint(hint_for_folder(dir))),
            },
            #[cfg(not(feature = "embedded"))]
            None => Err(no_owner(dir)),
        }
    }

    /// The owner's client, where there is one.
    pub(crate) fn owner(&self) -> Option<&Client> {
        match self {
            Self::Owner(client) => Some(client),
            #[cfg(feature = "embedded")]
            Self::Store(_) => None,
        }
    }

    pub(crate) fn listing(&self) -> Arc<dyn Listing> {
        match self {
            Self::Owner(client) => client.durable(),
            #[cfg(feature = "embedded")]
            Self::Store(reads) => Arc::new(reads.as_ref().clone()),
        }
    }

    pub(crate) fn reads(&self) -> Arc<dyn DurableReads> {
        match self {
            Self::Owner(client) => client.durable(),
            #[cfg(feature = "embedded")]
            Self::Store(reads) => Arc::new(reads.as_ref().clone()),
        }
    }
}

/// The owner's client; `None` where there is no owner.
pub(crate) async fn connect(dir: &Path) -> Result<Option<Client>, Failure> {
    match Client::connect(dir, "cli").await {
        Ok(client) => Ok(Some(client)),
        Err(ConnectError::NoOwner { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The owner's client, for what only an owner can do.
pub(crate) async fn owner(dir: &Path) -> Result<Client, Failure> {
    connect(dir).await?.ok_or_else(|| no_owner(dir))
}

fn no_owner(dir: &Path) -> Failure {
    Failure::new(code::FAILED, format!("nobody owns the data folder {}", dir.display()))
        .hint("start `remora dev`, or name another folder with --dir")
}

fn hint_for_folder(dir: &Path) -> String {
    if dir.is_dir() {
        "name another data folder with --dir".to_owned()
    } else {
        format!(
            "there is no data folder {} yet; `remora run -- COMMAND` or `remora dev` makes one",
            dir.display()
        )
    }
}

/// The folder's absolute path: workers and results are named by it.
pub(crate) fn absolute(dir: &Path) -> Result<PathBuf, Failure> {
    Ok(std::path::absolute(dir)?)
}
