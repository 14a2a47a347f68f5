//! A data folder without an owner: reading, and one write under the lock (protocol §7).

use std::sync::Arc;

use durable::sqlite::{OpenError, Options, SqliteReads, SqliteRoom};
use remora::DataFolder;
use thiserror::Error;

use crate::lock::{FolderLock, LockError};

/// Why a folder without an owner could not be used.
#[derive(Debug, Error)]
pub enum OfflineError {
    /// The lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The database.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Opens the durable store for reading only; it need not have an owner.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn read_only(folder: &DataFolder) -> Result<SqliteReads, OfflineError> {
    Ok(SqliteRoom::open_read_only(folder.database())?)
}

/// The durable store under the owner's lock, for one write.
pub struct OfflineWrite {
    /// The room.
    pub room: Arc<SqliteRoom>,
    _lock: FolderLock,
}

impl OfflineWrite {
    /// Takes the lock and opens the store; both are made where they are not there.
    ///
    /// # Errors
    /// When somebody owns the folder, or the store cannot be opened.
    pub fn open(folder: &DataFolder) -> Result<Self, OfflineError> {
        let lock = FolderLock::take(folder)?;
        let room = Arc::new(SqliteRoom::open(folder.database(), Options::default())?);
        Ok(Self { room, _lock: lock })
    }
}
